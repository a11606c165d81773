// The least sum of tables: each variable takes one of a few values, each table gives seconds for the values of a few
// variables (a weighted constraint problem, or the mode of a graphical model).
//
// Variables are eliminated (variable_elimination.h), which is exact. What would take larger tables or more work than
// the limits allow is solved approximately: mini-buckets give a lower bound and a first assignment, which is improved
// by solving exactly for most variables while the others keep their values, then others, until nothing improves any
// more (cutset conditioning). Work is counted in entries of tables, so the answer does not depend on the machine.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;

struct cost_table {
    int n;                       // variables
    const uint32_t *variables;   // distinct
    const double *seconds;       // by the values of the variables, those of the last one next to each other
};
struct assignment_limits {
    size_t entries;   // of the largest table that elimination may make, with the values of what it eliminates
    double work;      // entries of all of them
};
struct assignment {
    double seconds;   // the sum that was found
    double least;     // no sum is below it; `seconds` itself where that is the least
};
extern const struct assignment_limits assignment_standard_limits;

// `n_values` of each variable; `ret_values` one of these for each. Of equal sums the one with small values first is
// preferred, as far as elimination goes.
struct assignment assignment_find(size_t n_variables, const int *n_values, size_t n_tables,
                                  const struct cost_table *tables, const struct assignment_limits *limits,
                                  struct arena *arena, int *ret_values);
// The work that eliminating all variables takes, from the tables' variables alone; INFINITY where one takes more
// entries than the limit.
double assignment_work(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                       const struct assignment_limits *limits, struct arena *arena);
