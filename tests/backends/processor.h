// The device "cpu" for a block, without a file of costs: `CPU(name, .threads = 1)`, with options as of backend_options.
#pragma once
#include "backends/cpu/cpu.h"
#include "tests/backends/device.h"

static inline struct backend *open_processor(const struct backend_options *options)
{
    struct error error = {0};
    struct backend *b = cpu_backend_open(options, &error);
    if (!b)
        fail_msg("%s", error.message);
    return b;
}

#define CPU(name, ...) DEVICE(name, open_processor(&(struct backend_options){.cost_file = "", __VA_ARGS__}))
