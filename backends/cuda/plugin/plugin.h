// What the files of the plugin share. NVIDIA's types are named here without their headers, so that this one stands
// alone.
#pragma once
#include "backends/cuda/gpu.h"

struct CUevent_st;
struct CUstream_st;
struct cublasLtContext;
struct cudnnContext;

struct gpu {
    int ordinal;
    struct CUstream_st *stream;
    struct cudnnContext *cudnn;
    struct cublasLtContext *cublas;
    struct CUevent_st *moments[GPU_MOMENTS];
    struct gpu_information information;
};
// Each kind of plan begins with this.
struct gpu_plan {
    struct gpu_choice choice;
    bool (*run)(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands);
    void (*free)(struct gpu_plan *plan);
};

// Writes the reason and is false.
bool plugin_fail(char *ret_reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

// compile.c
bool plugin_compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason);
void plugin_free_code(void *code);
// conv.c
int plugin_conv_choices(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason);
struct gpu_plan *plugin_plan_conv(struct gpu *gpu, const struct gpu_conv *conv, const char *choice, char *ret_reason);
// product.c
int plugin_product_choices(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason);
struct gpu_plan *plugin_plan_product(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason);
// device.c
struct gpu *plugin_open(int ordinal, char *ret_reason);
void plugin_close(struct gpu *gpu);
void plugin_get_information(struct gpu *gpu, struct gpu_information *ret_information);
void *plugin_allocate(struct gpu *gpu, size_t bytes, char *ret_reason);
void plugin_release(struct gpu *gpu, void *memory);
bool plugin_upload(struct gpu *gpu, void *to, const void *from, size_t bytes);
bool plugin_download(struct gpu *gpu, void *to, const void *from, size_t bytes);
bool plugin_fill(struct gpu *gpu, void *to, int byte, size_t bytes);
bool plugin_synchronize(struct gpu *gpu, char *ret_reason);
struct gpu_kernel *plugin_load(struct gpu *gpu, const void *code, size_t size, char *ret_reason);
void plugin_unload(struct gpu *gpu, struct gpu_kernel *kernel);
bool plugin_launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                   void *const *addresses);
bool plugin_begin_capture(struct gpu *gpu, char *ret_reason);
struct gpu_graph *plugin_end_capture(struct gpu *gpu, char *ret_reason);
bool plugin_launch_graph(struct gpu *gpu, struct gpu_graph *graph);
void plugin_free_graph(struct gpu_graph *graph);
bool plugin_note_moment(struct gpu *gpu, int moment);
bool plugin_seconds_between(struct gpu *gpu, int first, int second, double *ret_seconds);

// plugin.c: the only exported name
const struct gpu_api *taso_gpu_api(void);
