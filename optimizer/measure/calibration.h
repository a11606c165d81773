// Corrects the costs of steps by what they take inside of the models that are about to be timed: alone, a step finds
// its operands and weights elsewhere than where the steps before leave them.
#pragma once
#include "optimizer/job/optimization.h"
#include "optimizer/measure/contenders.h"

// Corrects costs by what steps take inside of the original and the finalists: the largest change of an estimate by it,
// as a share; 0: all that was known already.
bool optimizing_calibrate(struct optimizing *o, bool may_search_again, double *ret_change);
// Costs stay those that the search was done from where no other search follows that change: the next run, which begins
// with them, would go another way, and measure what it meets.
bool calibration_keeps_costs(double change, bool may_search_again);
// The runs of a model that count, of those that were made: undisturbed, or hardly longer than the shortest of all.
size_t calibration_choose_runs(size_t n_runs, const double *sums, const bool *is_disturbed, size_t *ret_runs);
