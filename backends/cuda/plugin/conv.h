// Convolutions through cuDNN's graph (backend) interface: conv(x, w) [+ residual] [+ bias] [relu] -> z is one operation
// graph, intermediates virtual. Engines are listed by the library's heuristics for a device that is described, so that
// plans are made without one too.
#pragma once
#include "backends/cuda/plugin/plugin.h"

int plugin_conv_choices(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason);
struct gpu_plan *plugin_plan_conv(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                                  const char *choice, char *ret_reason);
