// The contract between the device "cuda" and the plugin that drives a GPU.
//
// The plugin (backends/cuda/plugin) is a shared module that the program finds with dlopen, so one binary runs with and
// without CUDA: it is the only part that links NVIDIA's libraries, and knows nothing of graphs. All planning and all
// kernel text is made on this side. Tests implement the same table on the processor.
//
//     const struct gpu_api *api = gpu_load(...)                    the table
//     api->compile(source, "sm_90", ...)                           no GPU needed, as for all above the line
//     api->conv_choices("sm_90", NULL, &conv, ...)
//     ---------------------------------------------
//     struct gpu *gpu = api->open(0, reason)                       one context, one stream
//     api->launch(gpu, kernel, ...) / api->run(gpu, plan, ...)     asynchronous, in order; may be captured
//
// Functions that can fail give false (NULL) and one line in `ret_reason`, GPU_REASON_SIZE characters.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_API_VERSION 3
#define GPU_ENTRY "taso_gpu_api"   // const struct gpu_api *taso_gpu_api(void)
#define GPU_REASON_SIZE 512
#define GPU_MAX_RANK 8
#define GPU_CHOICE_SIZE 192
#define GPU_WORKSPACE_BYTES ((size_t)32 << 20)   // most that a library kernel may ask for

// --- library kernels -------------------------------------------------------------------------------------------------

enum gpu_type { GPU_F32, GPU_F16, GPU_BF16 };
enum gpu_activation { GPU_NO_ACTIVATION, GPU_RELU, GPU_GELU_TANH };
struct gpu_tensor {
    int rank;
    int64_t dim[GPU_MAX_RANK], stride[GPU_MAX_RANK];   // in elements
    int alignment;                                     // of its address, in bytes
};
// z = activation(conv(x, w) + bias[channel] + residual)
struct gpu_conv {
    enum gpu_type type;
    bool allows_tf32;
    struct gpu_tensor x, w, z;   // [N, C, ...], [F, C / groups, ...], [N, F, ...]; a residual stands as z does
    int64_t stride[GPU_MAX_RANK], dilation[GPU_MAX_RANK], pad_begin[GPU_MAX_RANK], pad_end[GPU_MAX_RANK];
    int64_t groups;
    bool has_bias, has_residual;
    enum gpu_activation activation;
};
// z = activation(x * y + bias[column or row] + residual), `batches` times. Of a matrix one stride is 1.
struct gpu_matrix {
    int64_t row_stride, column_stride, batch_stride;
    int alignment;
};
struct gpu_product {
    enum gpu_type type;
    bool allows_tf32;
    int64_t m, n, k, batches;
    struct gpu_matrix x, y, z, residual;   // of the last two column_stride is 1
    bool has_bias, is_bias_of_rows, has_residual;
    enum gpu_activation activation;
};
// How a library would run something, in words that give the same again: an engine and its settings.
struct gpu_choice {
    char text[GPU_CHOICE_SIZE];
};
struct gpu_operands {
    const void *x, *y, *bias, *residual;   // y: the weights of a convolution
    void *z, *workspace;
};

// --- the table -------------------------------------------------------------------------------------------------------

struct gpu;          // an open device
struct gpu_kernel;   // loaded code
struct gpu_plan;     // of a library kernel
struct gpu_graph;    // what was captured
struct gpu_information {
    char name[128], architecture[16];   // "NVIDIA H200", "sm_90"
    int multiprocessors;
    size_t memory_bytes, cache_bytes;
    double bytes_per_second, flops_per_second;   // of memory; of fused multiply-adds in f32, each counting two
};
struct gpu_api {
    uint32_t version;                                // GPU_API_VERSION
    void (*describe)(char *ret_text, size_t size);   // "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0"

    // The prelude of each kernel's text (kernel_text.h): the words that it is written in, for this machine.
    const char *prelude;
    // C for CUDA to machine code; `ret_code` is given back with free_code.
    bool (*compile)(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason);
    void (*free_code)(void *code);
    // How many of the library's engines serve, best first as far as is known without timing; at most `most` are given.
    // `gpu` NULL: for a typical device of that architecture. 0: none, with a reason.
    int (*conv_choices)(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason);

    struct gpu *(*open)(int ordinal, char *ret_reason);
    void (*close)(struct gpu *gpu);
    void (*get_information)(struct gpu *gpu, struct gpu_information *ret_information);
    void *(*allocate)(struct gpu *gpu, size_t bytes, char *ret_reason);   // aligned to 256
    void (*release)(struct gpu *gpu, void *memory);
    bool (*upload)(struct gpu *gpu, void *to, const void *from, size_t bytes);   // in order with what was launched
    bool (*download)(struct gpu *gpu, void *to, const void *from, size_t bytes);
    bool (*fill)(struct gpu *gpu, void *to, int byte, size_t bytes);
    bool (*synchronize)(struct gpu *gpu, char *ret_reason);   // and tells of failures since the last time

    struct gpu_kernel *(*load)(struct gpu *gpu, const void *code, size_t size, char *ret_reason);
    void (*unload)(struct gpu *gpu, struct gpu_kernel *kernel);
    // The kernel's arguments are `n` addresses.
    bool (*launch)(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                   void *const *addresses);

    int (*product_choices)(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason);
    // `choice` NULL or empty: what stands first. `gpu` NULL: as above; such a plan cannot be run.
    struct gpu_plan *(*plan_conv)(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                                  const char *choice, char *ret_reason);
    struct gpu_plan *(*plan_product)(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason);
    const char *(*choice_of)(const struct gpu_plan *plan);
    bool (*run)(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands);
    void (*free_plan)(struct gpu_plan *plan);

    // Launches between the two are recorded, not run.
    bool (*begin_capture)(struct gpu *gpu, char *ret_reason);
    struct gpu_graph *(*end_capture)(struct gpu *gpu, char *ret_reason);
    bool (*launch_graph)(struct gpu *gpu, struct gpu_graph *graph);
    void (*free_graph)(struct gpu_graph *graph);
    // Moments on the stream, from 0 to GPU_MOMENTS - 1, and the seconds between two of them once both have passed.
    bool (*note_moment)(struct gpu *gpu, int moment);
    bool (*seconds_between)(struct gpu *gpu, int first, int second, double *ret_seconds);
};
#define GPU_MOMENTS 1024

typedef const struct gpu_api *gpu_entry(void);
