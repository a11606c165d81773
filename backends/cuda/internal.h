// The interface that the files of the device share.
#pragma once
#include "backends/contract/backend.h"
#include "backends/cuda/gpu.h"
#include "backends/generated/kernels.h"

struct kernel_cache;

struct engine_shape {
    uint64_t kind;
    double sizes[4];   // logarithms
};
struct known_engine {
    struct engine_shape shape;
    char choice[CHOICE_SIZE];
};

struct cuda_backend {
    struct backend base;
    const struct gpu_api *api;
    struct gpu *gpu;   // NULL: only costs are here
    struct gpu_information information;
    struct kernel_cache *kernels;
    void *zeros;                        // for biases that are not there; then counters (KERNEL_COUNTER_MEMORY)
    VEC(struct known_engine) engines;   // that were the best (engines.h)
};
#define ZERO_BYTES ((size_t)1 << 20)
#define COUNTER_BYTES (KERNEL_COUNTERS * sizeof(int32_t))

// --- library steps (library.c) ---------------------------------------------------------------------------------------

// A convolution or matrix product with its epilogue, as the plugin is asked for it.
struct library_step {
    bool is_conv, has_zero_bias;
    struct gpu_conv conv;
    struct gpu_product product;
    struct view x, y, z;
    const struct loop_access *bias, *residual;   // of the step's epilogue; NULL: none
};
extern const struct kernel cuda_kernel_conv, cuda_kernel_product, cuda_kernel_loops, cuda_kernel_definition,
    cuda_kernel_evaluate;

typedef bool cuda_claim_operator(const struct cuda_backend *b, struct planner *p, node_id node);
cuda_claim_operator cuda_claim_conv, cuda_claim_product;
extern const struct layout_support cuda_layouts;

// --- prepared steps (steps.c) ----------------------------------------------------------------------------------------

struct launch {
    struct gpu_kernel *kernel;   // of the kernel cache
    unsigned blocks, threads;
    int n_pointers;
    const struct kernel_pointer *pointers;
};
struct prepared_step {
    size_t number;   // in the plan
    int n_launches;
    struct launch *launches;
    struct gpu_plan *plan;   // NULL: launches alone
    struct library_step library;
    const char *generated;   // the choice of a library step's kernels where there is no plan
    size_t scratch_bytes;
};
// Addresses of a plan's memories on the device; `scratch` is shared by all steps.
struct addresses {
    char **memory;
    char *scratch;
};
#define CHOICE_GENERATED "generated"   // of a library step: no library, a kernel from the definition
#define CHOICE_APART "apart "          // before an engine: without the epilogue, which is a kernel of its own

// --- models (model.c) ------------------------------------------------------------------------------------------------

extern const struct executor cuda_executor;
