// The interface that the files of the plugin share. NVIDIA's types are named here without their headers, so that this
// one stands alone.
#pragma once
#include "backends/cuda/gpu.h"

struct CUevent_st;
struct CUstream_st;
struct cublasLtContext;
struct cudnnContext;

struct gpu {
    int ordinal;
    struct CUstream_st *stream;
    struct cudnnContext *cudnn;
    struct cublasLtContext *cublas;
    struct CUevent_st *moments[GPU_MOMENTS];
    struct gpu_information information;
};
// Each kind of plan begins with this.
struct gpu_plan {
    struct gpu_choice choice;
    bool (*run)(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands);
    void (*free)(struct gpu_plan *plan);
};

// plugin.c: the only exported name
const struct gpu_api *taso_gpu_api(void);
