// The plugin: where it is looked for, and what is said when it cannot be used.
#pragma once
#include "backends/cuda/gpu.h"

// The plugin, from $TASO_CUDA_PLUGIN, beside the program, or where it was installed; NULL: one line in `ret_reason`.
const struct gpu_api *gpu_load(char *ret_reason);
