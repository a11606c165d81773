// Costs of groups of nodes in the user's runtime are corrected by what its sessions show of whole models: it fuses,
// orders layouts and finds caches otherwise there than in groups that are timed alone.
#pragma once
#include "optimizer/job/optimization.h"

// Corrects costs by sessions of the original and of the finalists: the largest change of an estimate by it, as a share;
// 0: all that was known already.
void optimizing_calibrate_in_runtime(struct optimizing *o, double *ret_change);
