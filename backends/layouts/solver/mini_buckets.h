// A lower bound of a sum of tables, and an assignment that goes by it (mini-bucket elimination; Dechter and Rish 2003).
//
// Where the tables that mention a variable add up to too large a table, they are parted, and each part is minimized
// over the variable by itself: as if the variable could have another value in each. Costs are moved between the parts
// first, so that all have the same minimum for each of its values.
#pragma once
#include "backends/layouts/solver/assignment.h"

// No table that is made has more than `most_entries`, with the values of what is eliminated, but what one table that is
// given makes by itself. Gives the bound; the values are those that are best under what was left of the tables.
double mini_buckets_find(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                         size_t most_entries, struct arena *arena, int *ret_values);
