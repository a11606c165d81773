// The part that all GPUs share that are none: a clock that only work moves, names of engines, and the table of functions.
#pragma once
#include "backends/cuda/gpu.h"
#include <stdio.h>

// The first member of a struct gpu.
struct gpu_clock {
    double seconds, moments[GPU_MOMENTS];
};

static bool note_moment(struct gpu *gpu, int moment)
{
    struct gpu_clock *clock = (struct gpu_clock *)gpu;
    clock->moments[moment] = clock->seconds;
    return true;
}

static bool seconds_between(struct gpu *gpu, int first, int second, double *ret_seconds)
{
    const struct gpu_clock *clock = (const struct gpu_clock *)gpu;
    *ret_seconds = clock->moments[second] - clock->moments[first];
    return true;
}

static bool synchronize(struct gpu *gpu, char *ret_reason)
{
    return true;
}

static int name_engines(const char *format, int n, int most, struct gpu_choice *ret_choices)
{
    for (int i = 0; i < n && i < most; i++)
        snprintf(ret_choices[i].text, GPU_CHOICE_SIZE, format, i);
    return most < n ? most : n;
}

// The first member of a struct gpu_plan is its choice.
static const char *choice_of(const struct gpu_plan *plan)
{
    return ((const struct gpu_choice *)plan)->text;
}

// In the order of struct gpu_api: of the functions that the file has under these names.
#define TABLE_OF_GPU(prelude_of_kernels)                                                                               \
    {                                                                                                                  \
        GPU_API_VERSION, describe, prelude_of_kernels, compile, free_code, conv_choices, open_gpu, close_gpu,          \
            get_information, allocate, release, upload, download, fill, synchronize, load, unload, launch,             \
            product_choices, plan_conv, plan_product, choice_of, run, free_plan, begin_capture, end_capture,           \
            launch_graph, free_graph, note_moment, seconds_between                                                     \
    }
