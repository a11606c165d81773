// A definition prepared for evaluation: what can be known of it before any value is.
//
// A stage is evaluated in blocks of up to PLAN_LANES entries, one *lane* each: every expression gives a vector of
// values, so that the cost of walking over the tree is shared by many entries. An index into a tensor (the row-major
// offset of a read, its place on an axis where it may leave the tensor, the condition of a select) is taken apart into
// a *form*
//     base  +  lane part    functions of the stage's own index variables: one table of numbers per block
//           +  loop part    multiples of reduction variables: one number for all lanes
//           +  mixed part   divisions of both, indices read from data: computed lane by lane on the spot
// Private to the evaluators.
#pragma once
#include "expressions/definition.h"

#define PLAN_LANES 256
#define NO_TABLE UINT32_MAX

struct term {
    uint32_t atom;   // a variable's number, or (is_expression) an index expression
    bool is_expression;
    int64_t coefficient;
};
struct form {
    int64_t base;
    int n_lane, n_loop, n_mixed;
    const struct term *lane, *loop, *mixed;
    uint32_t table;   // of the lane part; NO_TABLE: none, it is 0
};
struct bound {
    struct form place;
    int64_t size;
};
struct read_access {
    int tensor;
    enum outside outside;
    bool is_linear;   // lane l of a block from entry f reads at f + l + base + loop part, nothing else
    int64_t elements;
    struct form offset;
    int n_bounds;
    const struct bound *bounds;   // axes on which the place may be outside
};
struct lane_table {
    int64_t low, high;   // least and greatest value
    int64_t *values;
};
struct planned_stage {
    const struct stage *stage;
    int64_t elements;
    int capacity;                    // lanes of a block
    bool is_cached;                  // one block: its lanes are filled once, here
    struct read_access **accesses;   // of READ nodes: stages may share nodes, and have each its own lanes
    struct form **conditions;        // the index expressions under SELECT and SCALAR_OF nodes
    uint32_t n_tables;
    const struct form *const *forms;   // of the tables
    struct lane_table *tables;         // is_cached
    int64_t *variables;                // is_cached: as struct lanes has them; NULL: nothing reads them
};
struct evaluation_plan {
    const struct definition *d;
    struct planned_stage *stages;
};

// The lanes of one block.
struct lanes {
    const struct definition *d;
    const struct stage *stage;
    int64_t first;   // linear index of the first lane's entry
    int n, capacity;
    int64_t *variables;   // the stage's index variables: capacity values for each axis
    int64_t *loop;        // the value of each other variable
    struct lane_table *tables;
    void (*index_of)(void *context, expr scalar, int64_t *ret_values);   // for indices read from data
    void *context;
};
void lanes_allocate(struct arena *a, const struct planned_stage *planned, struct lanes *lanes);
void lanes_fill(const struct planned_stage *planned,
                struct lanes *lanes);   // variables and tables, from `first` and `n`
void lanes_index(const struct lanes *lanes, expr e, int64_t *ret_values);   // an index expression in every lane
int64_t form_loop_part(const struct lanes *lanes, const struct form *f);    // with the base
