// A guess for what has not been measured: the time to move a step's bytes or to do its operations, whichever is longer,
// at a share of what the device could do, and a launch.
#pragma once
#include "backends/cuda/internal.h"

double cuda_guess(const struct backend *b, const struct plan *plan, const struct step *step);
// The seconds that every kernel takes at least, whatever its engine and the layouts: no more than what an H200 was
// measured to take for any of the recorded steps.
double cuda_least(const struct backend *b, const struct plan *plan, const struct step *step);
