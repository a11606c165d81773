// A GPU on which nothing is computed: memory is addresses alone, and a clock goes on by what work would take, the same
// each time: what a device of an H200's size takes for its operations and bytes, with engines that each reach some share
// of its peak, nearly the same for shapes that are near. Where the plugin that drives real GPUs was built
// ($TASO_NULL_TOOLKIT: the path of taso_cuda.so), kernels are compiled by its NVRTC, and convolutions listed and planned
// by its cuDNN, for an H200; else engines are names. Matrix products always are: cuBLASLt wants a device.
//
// $TASO_NULL_COUNTS: a file that is written when it is closed, with how much was done on it.
#pragma once
#include "backends/cuda/gpu.h"

struct null_gpu_counts {
    size_t n_plans, n_kernels, n_launches, n_graphs;
};
extern const char null_prelude[];   // that of real GPUs
const struct gpu_api *taso_gpu_api(void);
const struct null_gpu_counts *null_gpu_counts_of(const struct gpu *gpu);
