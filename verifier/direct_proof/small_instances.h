// Small instances of an equation, one or a few of each kind, and the bounds that they argue for.
#pragma once
#include "verifier/direct_proof/judge.h"
#include "verifier/instances/size_ranges.h"

// Fills the bounds from the instances of a box; false when there are none. `attributes` as those of an enumeration.
bool explore_box(struct judge *j, const struct equation *eq, const struct box *box,
                 const struct attribute_value *attributes, uint64_t step_limit, struct bounds *ret_bounds);
// The size of the smallest uniform box with an instance, each tried with half of the steps that are left; 0: none was
// found. Split trees and other element types are tried when nothing else has one. `ret_bounds` may be NULL.
int explore_smallest_box(struct judge *j, const struct equation *eq, int max_rank, struct box *ret_box,
                         struct bounds *ret_bounds, bool *ret_saw_all);
// Well-typed instances of all kinds (ranks, lengths of attributes), at small sizes. False: the search was cut short,
// and when it must not be it was left then.
bool explore_kinds(struct judge *j, const struct equation *eq, bool must_be_whole,
                   bool (*visit)(void *context, struct instance *in), void *context);
