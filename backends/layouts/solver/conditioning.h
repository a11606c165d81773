// Improves an assignment: most variables are eliminated while the others keep their values (cutset conditioning), which
// gives the best values of most for those of the others; then others are kept, until nothing improves any more.
#pragma once
#include "backends/layouts/solver/assignment.h"

// No table that is made has more than `most_entries`. No sum is below `least`. Gives the sum for the values that are
// left in `values`.
double conditioning_improve(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                            size_t most_entries, double least, struct arena *arena, int *values);
