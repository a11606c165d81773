// Sets of inputs up to renaming. Inputs of one type are interchangeable, so of all sets with as many inputs of each
// type one is *first*: it has the first ones of each.
#pragma once
#include "generator/enumerate/key.h"

static inline uint32_t inputs_of_family(const struct family *f)
{
    return (uint32_t)((UINT64_C(1) << f->n_inputs) - 1);
}
static inline bool inputs_are_first(const struct family *f, uint32_t set)
{
    return (set & f->following & ~(set << 1)) == 0;
}
// The sets that renamings which leave `fixed` make of `set`; both are first, and one is part of the other.
uint64_t inputs_count_alike(const struct family *f, uint32_t set, uint32_t fixed);
// Visits one such renaming for each: the set and the inputs outside of it keep their order. The identity is the first.
void inputs_visit_alike(const struct family *f, uint32_t set, uint32_t fixed, renaming_fn *visit, void *context);
