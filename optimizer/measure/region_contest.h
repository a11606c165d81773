// A contest in the user's runtime is not all or nothing: each region of a result is timed in the whole model, and what
// is not faster there is given up.
#pragma once
#include "optimizer/job/optimization.h"

// Leaves of each finalist what gains in the runtime, and times those that are left against each other: the best one.
size_t optimizing_hold_contest_of_regions(struct optimizing *o);
