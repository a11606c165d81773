// Kernels made for the steps of a plan: text, and how to launch it.
#pragma once
#include "backends/generated/kernel_text.h"
#include "core/memory/vec.h"

struct generated_kernel {
    const char *text;   // complete
    unsigned blocks, threads;
    int n_pointers;
    const struct kernel_pointer *pointers;   // the arguments
};
struct generated_kernels {   // run in this order
    VEC(struct generated_kernel) list;
    size_t scratch_bytes;   // of KERNEL_SCRATCH
};
