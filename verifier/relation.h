// Relations: all types of a node's variables at which it is well-typed, found from the relations of its inputs, like
// the join of two tables. A search that goes through these rows meets few ill-typed beginnings, and an application is
// typed once for each combination of the types of its inputs, however many tensors have them.
#ifndef VERIFIER_RELATION_H
#define VERIFIER_RELATION_H
#include "verifier/instance.h"

struct relation {
    uint32_t variables;   // one bit for each column of a row, in ascending order
    uint32_t width, count;
    const type_id *rows;                     // `count` of them, `width` types each
    const struct typed_call *const *calls;   // of each row; NULL: the relation of a variable
};

// Rows by the types in some of their columns.
struct row_index {
    const type_id *rows;
    uint32_t stride, n_columns, mask;
    uint8_t columns[MAX_RULE_VARIABLES];
    uint32_t *heads, *next;
};
void row_index_make(struct row_index *ret_index, struct arena *a, const type_id *rows, uint32_t stride, uint32_t count,
                    uint32_t n_columns, const uint8_t *columns);
#define NO_ROW UINT32_MAX
uint32_t row_index_first(const struct row_index *index, const type_id *key);   // in ascending order; NO_ROW: none
uint32_t row_index_next(const struct row_index *index, uint32_t row, const type_id *key);

// Those of one equation at one assignment of its attribute variables.
struct relations {
    struct instance *in;                               // its attributes are bound; its types are overwritten
    struct arena *arena;                               // of the rows
    struct relation of_variable[MAX_RULE_VARIABLES];   // made by the caller: the types to try
    const struct relation *of_node[MAX_RULE_NODES];
    bool was_tried[MAX_RULE_NODES];
    uint64_t steps, step_limit;   // rows made and applications typed
};
// NULL: too many rows to write down, or the limit of steps was reached.
const struct relation *relations_of_node(struct relations *r, uint32_t node);
#endif
