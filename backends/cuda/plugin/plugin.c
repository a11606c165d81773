// The table of the plugin, and what it says of itself.
#include "backends/cuda/plugin/plugin.h"

#include "backends/cuda/plugin/conv.h"
#include "backends/cuda/plugin/fail.h"
#include "backends/cuda/plugin/product.h"
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <glob.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- compiling -------------------------------------------------------------------------------------------------------
// Kernel text to machine code by NVRTC: no GPU is needed, and the same text gives the same bytes.

// NVRTC looks for its second library by name alone, in places where it need not be: it is loaded from beside the first.
static void load_builtins(void)
{
    Dl_info nvrtc;
    glob_t found;
    char pattern[4096];
    void *function;
    nvrtcResult (*version)(int *, int *) = nvrtcVersion;
    memcpy(&function, &version, sizeof function);
    if (!dladdr(function, &nvrtc) || !nvrtc.dli_fname)
        return;
    const char *slash = strrchr(nvrtc.dli_fname, '/');
    snprintf(pattern, sizeof pattern, "%.*slibnvrtc-builtins.so*", slash ? (int)(slash + 1 - nvrtc.dli_fname) : 0,
             nvrtc.dli_fname);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL))
            break;
    globfree(&found);
}

static bool take_code(nvrtcProgram program, void **ret_code, size_t *ret_size)
{
    size_t size = 0;
    if (nvrtcGetCUBINSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return false;
    void *code = malloc(size);
    if (nvrtcGetCUBIN(program, code) != NVRTC_SUCCESS) {
        free(code);
        return false;
    }
    *ret_code = code;
    *ret_size = size;
    return true;
}

static void take_log(nvrtcProgram program, nvrtcResult result, char *ret_reason)
{
    size_t size = 0;
    char *log = nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS ? malloc(size + 1) : NULL;
    if (log && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS && size > 1)
        plugin_fail(ret_reason, "%.400s", log);
    else
        plugin_fail(ret_reason, "NVRTC: %s", nvrtcGetErrorString(result));
    free(log);
}

static bool plugin_compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size,
                           char *ret_reason)
{
    char target[64];
    const char *options[] = {target, "--std=c++17", "-w"};
    nvrtcProgram program;
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    load_builtins();
    nvrtcResult result = nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return plugin_fail(ret_reason, "NVRTC: %s", nvrtcGetErrorString(result));
    result = nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
    bool is_done = result == NVRTC_SUCCESS && take_code(program, ret_code, ret_size);
    if (!is_done)
        take_log(program, result, ret_reason);
    nvrtcDestroyProgram(&program);
    return is_done;
}

static void plugin_free_code(void *code)
{
    free(code);
}

// --- the GPU ---------------------------------------------------------------------------------------------------------
// The GPU itself: memory, one stream, kernels, captures, moments in time.

#define MOST_ADDRESSES 128

struct gpu_kernel {
    cudaLibrary_t library;
    cudaKernel_t kernel;
};

static bool is_done(cudaError_t status, char *ret_reason)
{
    return status == cudaSuccess || plugin_fail(ret_reason, "%s", cudaGetErrorString(status));
}

// --- opening ---------------------------------------------------------------------------------------------------------

static int attribute(int ordinal, enum cudaDeviceAttr which)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

// Lanes for f32 in a multiprocessor: 64 until 8.0, 128 since.
static double flops_of(int ordinal, const struct gpu_information *i, int version)
{
    double clock = 1e3 * attribute(ordinal, cudaDevAttrClockRate);
    return 2 * (version <= 80 ? 64 : 128) * clock * i->multiprocessors;
}

static void read_information(int ordinal, struct gpu_information *ret_information)
{
    struct gpu_information i = {.multiprocessors = attribute(ordinal, cudaDevAttrMultiProcessorCount)};
    struct cudaDeviceProp properties;
    int version = 10 * attribute(ordinal, cudaDevAttrComputeCapabilityMajor) +
                  attribute(ordinal, cudaDevAttrComputeCapabilityMinor);
    snprintf(i.architecture, sizeof i.architecture, "sm_%d", version);
    if (cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess) {
        snprintf(i.name, sizeof i.name, "%.120s", properties.name);
        i.memory_bytes = properties.totalGlobalMem;
    }
    for (char *c = i.name; *c; c++)
        if (*c == ',' || *c == '"')
            *c = ' ';
    i.cache_bytes = (size_t)attribute(ordinal, cudaDevAttrL2CacheSize);
    i.bytes_per_second =
        2e3 * attribute(ordinal, cudaDevAttrMemoryClockRate) * attribute(ordinal, cudaDevAttrGlobalMemoryBusWidth) / 8;
    i.flops_per_second = flops_of(ordinal, &i, version);
    if (i.bytes_per_second <= 0)
        i.bytes_per_second = 1e12;
    if (i.flops_per_second <= 0)
        i.flops_per_second = 1e13;
    *ret_information = i;
}

static bool open_libraries(struct gpu *gpu, char *ret_reason)
{
    cudnnStatus_t status;
    if (cublasLtCreate(&gpu->cublas) != CUBLAS_STATUS_SUCCESS)
        return plugin_fail(ret_reason, "cuBLASLt cannot be started");
    if ((status = cudnnCreate(&gpu->cudnn)) != CUDNN_STATUS_SUCCESS ||
        (status = cudnnSetStream(gpu->cudnn, gpu->stream)) != CUDNN_STATUS_SUCCESS)
        return plugin_fail(ret_reason, "cuDNN cannot be started: %s", cudnnGetErrorString(status));
    return true;
}

static bool open_moments(struct gpu *gpu, char *ret_reason)
{
    for (int i = 0; i < GPU_MOMENTS; i++)
        if (!is_done(cudaEventCreate(&gpu->moments[i]), ret_reason))
            return false;
    return true;
}

static void plugin_close(struct gpu *gpu)
{
    for (int i = 0; i < GPU_MOMENTS; i++)
        if (gpu->moments[i])
            cudaEventDestroy(gpu->moments[i]);
    if (gpu->cudnn)
        cudnnDestroy(gpu->cudnn);
    if (gpu->cublas)
        cublasLtDestroy(gpu->cublas);
    if (gpu->stream)
        cudaStreamDestroy(gpu->stream);
    free(gpu);
}

static struct gpu *plugin_open(int ordinal, char *ret_reason)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || ordinal >= count) {
        plugin_fail(ret_reason, "%s",
                    status == cudaErrorInsufficientDriver ? "NVIDIA's driver is not there, or too old for this CUDA"
                    : status != cudaSuccess               ? cudaGetErrorString(status)
                                                          : "none is found");
        return NULL;
    }
    struct gpu *gpu = calloc(1, sizeof *gpu);
    gpu->ordinal = ordinal;
    if (is_done(cudaSetDevice(ordinal), ret_reason) &&
        is_done(cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking), ret_reason) &&
        open_libraries(gpu, ret_reason) && open_moments(gpu, ret_reason)) {
        read_information(ordinal, &gpu->information);
        return gpu;
    }
    plugin_close(gpu);
    return NULL;
}

static void plugin_get_information(struct gpu *gpu, struct gpu_information *ret_information)
{
    *ret_information = gpu->information;
}

// --- memory ----------------------------------------------------------------------------------------------------------

static void *plugin_allocate(struct gpu *gpu, size_t bytes, char *ret_reason)
{
    void *memory = NULL;
    return is_done(cudaMalloc(&memory, bytes), ret_reason) ? memory : NULL;
}

static void plugin_release(struct gpu *gpu, void *memory)
{
    cudaFree(memory);
}

static bool plugin_upload(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, gpu->stream) == cudaSuccess;
}

static bool plugin_download(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, gpu->stream) == cudaSuccess;
}

static bool plugin_fill(struct gpu *gpu, void *to, int byte, size_t bytes)
{
    return cudaMemsetAsync(to, byte, bytes, gpu->stream) == cudaSuccess;
}

static bool plugin_synchronize(struct gpu *gpu, char *ret_reason)
{
    return is_done(cudaStreamSynchronize(gpu->stream), ret_reason) && is_done(cudaGetLastError(), ret_reason);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

static struct gpu_kernel *plugin_load(struct gpu *gpu, const void *code, size_t size, char *ret_reason)
{
    struct gpu_kernel k;
    if (!is_done(cudaLibraryLoadData(&k.library, code, NULL, NULL, 0, NULL, NULL, 0), ret_reason))
        return NULL;
    if (!is_done(cudaLibraryGetKernel(&k.kernel, k.library, "kernel"), ret_reason)) {
        cudaLibraryUnload(k.library);
        return NULL;
    }
    struct gpu_kernel *kernel = malloc(sizeof *kernel);
    *kernel = k;
    return kernel;
}

static void plugin_unload(struct gpu *gpu, struct gpu_kernel *kernel)
{
    cudaLibraryUnload(kernel->library);
    free(kernel);
}

static bool plugin_launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                          void *const *addresses)
{
    void *values[MOST_ADDRESSES], *arguments[MOST_ADDRESSES];
    if (n > MOST_ADDRESSES)
        return false;
    for (int i = 0; i < n; i++) {
        values[i] = addresses[i];
        arguments[i] = &values[i];
    }
    dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
    return cudaLaunchKernel((const void *)kernel->kernel, grid, block, arguments, 0, gpu->stream) == cudaSuccess;
}

// --- captures --------------------------------------------------------------------------------------------------------

static bool plugin_begin_capture(struct gpu *gpu, char *ret_reason)
{
    return is_done(cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal), ret_reason);
}

static struct gpu_graph *plugin_end_capture(struct gpu *gpu, char *ret_reason)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    bool is_captured = is_done(cudaStreamEndCapture(gpu->stream, &graph), ret_reason) && graph;
    if (is_captured && is_done(cudaGraphInstantiate(&executable, graph, 0), ret_reason))
        cudaGraphUpload(executable, gpu->stream);
    if (graph)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    return (struct gpu_graph *)executable;
}

static bool plugin_launch_graph(struct gpu *gpu, struct gpu_graph *graph)
{
    return cudaGraphLaunch((cudaGraphExec_t)graph, gpu->stream) == cudaSuccess;
}

static void plugin_free_graph(struct gpu_graph *graph)
{
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

static bool plugin_note_moment(struct gpu *gpu, int moment)
{
    return cudaEventRecord(gpu->moments[moment], gpu->stream) == cudaSuccess;
}

static bool plugin_seconds_between(struct gpu *gpu, int first, int second, double *ret_seconds)
{
    float milliseconds = 0;
    if (cudaEventSynchronize(gpu->moments[second]) != cudaSuccess ||
        cudaEventElapsedTime(&milliseconds, gpu->moments[first], gpu->moments[second]) != cudaSuccess)
        return false;
    *ret_seconds = milliseconds * 1e-3;
    return true;
}

// --- the table -------------------------------------------------------------------------------------------------------

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
