// Eliminating variables from a sum of tables (bucket elimination; Dechter 1999): the tables that mention a variable are
// added up and minimized over it, which leaves a table over the others that they mention. On a tree this is dynamic
// programming from the leaves; graphs of models are nearly trees.
#pragma once
#include "backends/layouts/solver/assignment.h"
#include "core/memory/vec.h"
#include <stdbool.h>

#define NO_VARIABLE UINT32_MAX

// A table while variables are eliminated. Ids of factors are given in order; one that was added up is gone.
struct factor {
    int n;
    const uint32_t *variables;
    const double *seconds;   // NULL: only its variables matter (elimination_is_dry)
    bool is_gone;
};
typedef VEC(uint32_t) factor_list;
struct elimination_variable {
    factor_list factors;   // some of them gone
    double entries;        // of the table that eliminating it would make, and its own values; 0: to be counted
    bool is_gone;
};
// How an eliminated variable follows from others: its best value for each of theirs.
struct decision {
    uint32_t variable;
    int n;
    const uint32_t *others;
    uint8_t *values;
};
// The cost of eliminating a variable; out of date when its `entries` are others by now.
struct prospect {
    double work;
    uint32_t variable;
};
struct elimination {
    size_t n_variables;
    const int *n_values;
    struct arena *arena;
    struct elimination_variable *variables;
    VEC(struct factor) factors;
    VEC(struct decision) decisions;
    VEC(struct prospect) prospects;   // a heap, the least work first, of equal work the smaller variable
    factor_list live;                 // of a variable that is looked at
    VEC(uint32_t) scope;              // of the table under way: the variable that is eliminated, then the others
    int *place;                       // of every variable: where it is in the scope; -1: it is not
    double constant;                  // what is left of the sum when all variables are gone
};

void elimination_init(struct elimination *e, size_t n_variables, const int *n_values, size_t n_tables,
                      const struct cost_table *tables, struct arena *arena);
void elimination_free(struct elimination *e);
// The cheapest variable that is left, the smaller one of two; NO_VARIABLE: none. It is to be dealt with, or put back.
uint32_t elimination_next(struct elimination *e);
void elimination_reconsider(struct elimination *e, uint32_t variable);
// The entries that eliminating it looks at; the others that its tables mention.
double elimination_entries(struct elimination *e, uint32_t variable);
size_t elimination_count_neighbours(struct elimination *e, uint32_t variable);
// The tables that mention it, until the next call.
const factor_list *elimination_factors_of(struct elimination *e, uint32_t variable);
// The entries of the sum of some tables that mention the variable.
double elimination_entries_of(struct elimination *e, uint32_t variable, const factor_list *some);

// Ways to deal with a variable: eliminate it, and note how it follows from others;
void elimination_remove(struct elimination *e, uint32_t variable);
// give it a value;
void elimination_fix(struct elimination *e, uint32_t variable, int value);
// or drop it and its tables after elimination_minimize added what is to be in their place: the minimum over the
// variable of the sum of some tables and `shift` (by its values). elimination_marginals: the minimum over all others.
void elimination_drop(struct elimination *e, uint32_t variable);
void elimination_minimize(struct elimination *e, uint32_t variable, const factor_list *some, const double *shift);
void elimination_marginals(struct elimination *e, uint32_t variable, const factor_list *some, double *ret_marginals);

// The values of all variables that were removed, where the others have theirs.
void elimination_decide(const struct elimination *e, int *values);
