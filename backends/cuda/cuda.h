// The device "cuda": an NVIDIA GPU. Convolutions and matrix products by its libraries, everything else by kernels made
// from the operators' definitions; whole models as one captured graph.
//
// All planning, all kernel text and all estimates are made here without CUDA; what drives the GPU is a plugin (gpu.h).
#pragma once
#include "backends/contract/backend.h"
#include "backends/cuda/internal.h"

// Costs in options->cost_file are used where there is no GPU: such a device prices graphs and cannot run them
// (backend_can_run). NULL: neither is there (EXIT_UNSUPPORTED, one line), or the file is malformed.
struct backend *cuda_backend_open(const struct backend_options *options, struct error *error);
// The same on a given plugin.
struct backend *cuda_backend_open_on(const struct gpu_api *api, const struct backend_options *options,
                                     struct error *error);

// How such a device is planned for; it may be one that is not open (b->base.codes and options are used).
struct plan_target cuda_plan_target(struct cuda_backend *b);
