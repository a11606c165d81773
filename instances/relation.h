// Relations: all types of a node's variables at which it is well-typed, found from the relations of its inputs, like
// the join of two tables. A search that goes through these rows meets few ill-typed beginnings, and an application is
// typed once for each combination of the types of its inputs, however many tensors have them.
#pragma once
#include "instances/instance.h"
#include "instances/row_index.h"

struct relation {
    uint32_t number;      // two that have the same one are the same; ANSWERS_NONE: it is not kept
    uint32_t variables;   // one bit for each column of a row, in ascending order
    uint32_t width, count;
    const type_id *rows;                     // `count` of them, `width` types each
    const struct typed_call *const *calls;   // of each row; NULL: the relation of a variable
};

// Those of one equation at one assignment of its attribute variables.
struct relations {
    struct instance *in;                               // its attributes are bound; its types are overwritten
    struct arena *arena;                               // of the rows
    struct relation of_variable[MAX_RULE_VARIABLES];   // made by the caller: the types to try
    const struct relation *of_node[MAX_RULE_NODES];
    bool was_tried[MAX_RULE_NODES];
    uint64_t steps, step_limit;   // rows made and applications typed
    VEC(int64_t) question;
    bool keeps_next;   // what is solved is kept by the typing
};
// Of a variable that has one of these types, which are not copied.
struct relation relation_of_variable(struct typing *t, uint32_t variable, uint32_t count, const type_id *types);
// NULL: too many rows to write down, or the limit of steps was reached. Who asks for the same application of the same
// relations again, in this search or in another one before typing_trim, is given what was found, and takes the steps
// that it took.
const struct relation *relations_of_node(struct relations *r, uint32_t node);
void relations_free(struct relations *r);
