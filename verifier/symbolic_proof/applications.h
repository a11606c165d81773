// Applications of operators apart from sizes: may one of these ranks, element types, lengths of lists, axes and choices
// be well-typed, and which ranks and element types has it then?
//
// Operators are asked at small sizes, all alike, with the least numbers for everything that is a size or a number of
// places. It is assumed of them that what is refused at all of these is refused at all sizes (docs/theory/symbolic.md,
// A2).
#pragma once
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "operators/operator.h"

#define NOT_A_NUMBER INT64_MIN   // an entry of an attribute that depends on sizes
struct outline {
    const struct operator* op;
    uint32_t n_inputs;
    const struct type *inputs;                  // ranks and element types
    const struct attribute_value *attributes;   // entries may be NOT_A_NUMBER
};
struct applied {
    bool is_possible;
    uint32_t n_outputs;
    const struct type *outputs;   // ranks and element types
};
// Applications that were asked for, with the answers.
struct applications {
    struct arena arena;
    struct key_set keys;
    VEC(struct applied) answers;
};
void applications_free(struct applications *a);
// False: it has too many inputs.
bool applications_ask(struct applications *a, const struct outline *o, struct applied *ret_answer);
