// The GPU itself: memory, one stream, kernels, captures, moments in time.
#include "backends/cuda/plugin/device.h"

#include "backends/cuda/plugin/fail.h"
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

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

struct gpu *plugin_open(int ordinal, char *ret_reason)
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

void plugin_close(struct gpu *gpu)
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

void plugin_get_information(struct gpu *gpu, struct gpu_information *ret_information)
{
    *ret_information = gpu->information;
}

// --- memory ----------------------------------------------------------------------------------------------------------

void *plugin_allocate(struct gpu *gpu, size_t bytes, char *ret_reason)
{
    void *memory = NULL;
    return is_done(cudaMalloc(&memory, bytes), ret_reason) ? memory : NULL;
}

void plugin_release(struct gpu *gpu, void *memory)
{
    cudaFree(memory);
}

bool plugin_upload(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, gpu->stream) == cudaSuccess;
}

bool plugin_download(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, gpu->stream) == cudaSuccess;
}

bool plugin_fill(struct gpu *gpu, void *to, int byte, size_t bytes)
{
    return cudaMemsetAsync(to, byte, bytes, gpu->stream) == cudaSuccess;
}

bool plugin_synchronize(struct gpu *gpu, char *ret_reason)
{
    return is_done(cudaStreamSynchronize(gpu->stream), ret_reason) && is_done(cudaGetLastError(), ret_reason);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

struct gpu_kernel *plugin_load(struct gpu *gpu, const void *code, size_t size, char *ret_reason)
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

void plugin_unload(struct gpu *gpu, struct gpu_kernel *kernel)
{
    cudaLibraryUnload(kernel->library);
    free(kernel);
}

bool plugin_launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
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

bool plugin_begin_capture(struct gpu *gpu, char *ret_reason)
{
    return is_done(cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal), ret_reason);
}

struct gpu_graph *plugin_end_capture(struct gpu *gpu, char *ret_reason)
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

bool plugin_launch_graph(struct gpu *gpu, struct gpu_graph *graph)
{
    return cudaGraphLaunch((cudaGraphExec_t)graph, gpu->stream) == cudaSuccess;
}

void plugin_free_graph(struct gpu_graph *graph)
{
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

bool plugin_note_moment(struct gpu *gpu, int moment)
{
    return cudaEventRecord(gpu->moments[moment], gpu->stream) == cudaSuccess;
}

bool plugin_seconds_between(struct gpu *gpu, int first, int second, double *ret_seconds)
{
    float milliseconds = 0;
    if (cudaEventSynchronize(gpu->moments[second]) != cudaSuccess ||
        cudaEventElapsedTime(&milliseconds, gpu->moments[first], gpu->moments[second]) != cudaSuccess)
        return false;
    *ret_seconds = milliseconds * 1e-3;
    return true;
}
