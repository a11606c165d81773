// The emulated GPU as a plugin, so that whole programs run on it.
#include "tests/cuda/emulated_gpu.h"

const struct gpu_api *taso_gpu_api(void);

__attribute__((visibility("default"))) const struct gpu_api *taso_gpu_api(void)
{
    return &emulated_gpu;
}
