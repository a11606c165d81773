// Applications of operators apart from sizes: may one of these ranks, element types, lengths of lists, axes and choices
// be well-typed, and which ranks and element types has it then?
//
// Operators are asked at small sizes, all alike, with the least numbers for everything that is a size or a number of
// places. It is assumed of them that what is refused at all of these is refused at all sizes (docs/theory/symbolic.md,
// A2).
#pragma once
#include "instances/typing.h"

struct outline {
    const struct operator* op;
    uint32_t n_inputs;                          // MAX_TYPED_INPUTS at most
    const struct type *inputs;                  // ranks and element types
    const struct attribute_value *attributes;   // entries that are sizes or depend on them do not matter
};
// The application at some sizes: of its outputs ranks and element types are those at all. NULL: it is impossible.
const struct typed_call *outline_apply(struct typing *t, const struct outline *o);
