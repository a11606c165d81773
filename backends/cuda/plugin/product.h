// Matrix products through cuBLASLt.
#pragma once
#include "backends/cuda/plugin/plugin.h"

int plugin_product_choices(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason);
struct gpu_plan *plugin_plan_product(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason);
