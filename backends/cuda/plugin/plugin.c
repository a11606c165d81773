// The table of the plugin, and what it says of itself.
#include "backends/cuda/plugin/plugin.h"

#include "backends/cuda/plugin/compile.h"
#include "backends/cuda/plugin/conv.h"
#include "backends/cuda/plugin/device.h"
#include "backends/cuda/plugin/product.h"
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdio.h>

extern const char plugin_prelude[];   // prelude.cuh

static void describe(char *ret_text, size_t size)
{
    int runtime = 0;
    size_t cudnn = cudnnGetVersion(), cublas = cublasLtGetVersion();
    cudaRuntimeGetVersion(&runtime);
    snprintf(ret_text, size, "CUDA %d.%d, cuDNN %zu.%zu.%zu, cuBLASLt %zu.%zu.%zu", runtime / 1000, runtime % 1000 / 10,
             cudnn / 10000, cudnn / 100 % 100, cudnn % 100, cublas / 10000, cublas / 100 % 100, cublas % 100);
}

static const char *choice_of(const struct gpu_plan *plan)
{
    return plan->choice.text;
}

static bool run(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands)
{
    return plan->run(gpu, plan, operands);
}

static void free_plan(struct gpu_plan *plan)
{
    plan->free(plan);
}

__attribute__((visibility("default"))) const struct gpu_api *taso_gpu_api(void)
{
    static const struct gpu_api api = {
        .version = GPU_API_VERSION,
        .describe = describe,
        .prelude = plugin_prelude,
        .compile = plugin_compile,
        .free_code = plugin_free_code,
        .conv_choices = plugin_conv_choices,
        .open = plugin_open,
        .close = plugin_close,
        .get_information = plugin_get_information,
        .allocate = plugin_allocate,
        .release = plugin_release,
        .upload = plugin_upload,
        .download = plugin_download,
        .fill = plugin_fill,
        .synchronize = plugin_synchronize,
        .load = plugin_load,
        .unload = plugin_unload,
        .launch = plugin_launch,
        .product_choices = plugin_product_choices,
        .plan_conv = plugin_plan_conv,
        .plan_product = plugin_plan_product,
        .choice_of = choice_of,
        .run = run,
        .free_plan = free_plan,
        .begin_capture = plugin_begin_capture,
        .end_capture = plugin_end_capture,
        .launch_graph = plugin_launch_graph,
        .free_graph = plugin_free_graph,
        .note_moment = plugin_note_moment,
        .seconds_between = plugin_seconds_between,
    };
    return &api;
}
