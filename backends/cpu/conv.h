// The part that kernels of convolutions share.
#pragma once
#include "backends/cpu/kernel.h"

// Short correlations take two axes, without groups, in steps of one, and weights that are known.
bool cpu_is_dense_conv(const struct plan *plan, const struct step *step);
