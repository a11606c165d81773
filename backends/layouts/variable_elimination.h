// The exact minimum of a sum of tables: each variable takes one of a few values, each table gives seconds for the values
// of a few variables.
//
// Values that another value of the same variable beats whatever the others take are dropped first: mostly this leaves
// little. Then variables are eliminated one after the other, the cheapest first: the tables that mention one are added up and
// minimized over it, which leaves a table over the others that they mention. On a tree this is dynamic programming from
// the leaves; graphs of models are nearly trees. Where a table would become too large, the variable with the most
// neighbours is tried at each of its values instead (branch and bound).
#ifndef BACKENDS_LAYOUTS_VARIABLE_ELIMINATION_H
#define BACKENDS_LAYOUTS_VARIABLE_ELIMINATION_H
#include <stddef.h>
#include <stdint.h>

struct arena;

struct cost_table {
    int n;                       // variables
    const uint32_t *variables;   // distinct
    const double *seconds;       // by the values of the variables, those of the last one next to each other
};
#define ASSIGNMENT_STANDARD_ENTRIES ((size_t)1 << 16)

// `n_values` of each variable; `ret_values` one of these for each. Of equal sums the one with small values first is
// preferred, as far as elimination goes. No table that is made has more than `most_entries`. Gives the sum.
double assignment_find(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                       size_t most_entries, struct arena *arena, int *ret_values);
#endif
