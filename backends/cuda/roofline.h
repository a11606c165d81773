// A guess for what has not been measured: the time to move a step's bytes or to do its operations, whichever is longer,
// at a share of what the device could do, and a launch.
#pragma once
#include "backends/cuda/internal.h"

double cuda_guess(const struct backend *b, const struct plan *plan, const struct step *step);
