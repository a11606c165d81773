// The part that kernels of convolutions share.
#pragma once
#include "backends/cpu/cpu_internal.h"

// A step of cpu_kernel_conv as a primitive with that algorithm, its epilogue behind it where it does not take it. NULL:
// failed, or the library has no such algorithm for it; the direct one falls back to the definition.
void *cpu_prepare_conv(const struct step_request *r, enum onednn_algorithm algorithm);
// Short correlations take two axes, without groups, in steps of one, and weights that are known.
bool cpu_is_dense_conv(const struct plan *plan, const struct step *step);
