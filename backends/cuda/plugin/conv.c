// Convolutions through cuDNN's graph (backend) interface:
//
//     conv(x, w) [+ residual] [+ bias] [relu]  ->  z          one operation graph, intermediates virtual
//
// Engines are listed by the library's heuristics for a device that is described, so that plans are made without one
// too. An engine with its settings is put in words ("engine 47 2=3 12=1") that find the same again.
#include "backends/cuda/plugin/conv.h"

#include "backends/cuda/plugin/fail.h"
#include <cudnn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 64   // descriptors of one convolution
#define MOST_OPERATIONS 4
#define MOST_CONFIGS 64   // that heuristics may give
#define MOST_KNOBS 32
#define MOST_NOTES 16
#define DESCRIPTION_SIZE 1024

enum { UID_X = 1, UID_W, UID_BIAS, UID_RESIDUAL, UID_Z, UID_VIRTUAL };

// Everything made on the way to a plan; freed together, last first.
struct making {
    const struct gpu_conv *conv;
    cudnnBackendDescriptor_t parts[MOST_PARTS], operations[MOST_OPERATIONS], graph;
    cudnnBackendDescriptor_t device;   // described; or, where there is one,
    cudnnHandle_t handle;              // the library's hold on it
    int n_parts, n_operations, n_virtual;
    cudnnStatus_t status;   // of the first failure
    const char *failed;
};
struct conv_plan {
    struct gpu_plan base;
    struct making making;
    cudnnBackendDescriptor_t plan;
    bool has_bias, has_residual;
};

// --- descriptors -----------------------------------------------------------------------------------------------------

static bool note(struct making *m, cudnnStatus_t status, const char *what)
{
    if (status != CUDNN_STATUS_SUCCESS && m->status == CUDNN_STATUS_SUCCESS) {
        m->status = status;
        m->failed = what;
    }
    return status == CUDNN_STATUS_SUCCESS;
}

static cudnnBackendDescriptor_t open_part(struct making *m, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;
    if (m->n_parts == MOST_PARTS || !note(m, cudnnBackendCreateDescriptor(type, &d), "a descriptor"))
        return NULL;
    m->parts[m->n_parts++] = d;
    return d;
}

static void free_parts(struct making *m)
{
    while (m->n_parts > 0)
        cudnnBackendDestroyDescriptor(m->parts[--m->n_parts]);
}

static void set(struct making *m, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (d)
        note(m, cudnnBackendSetAttribute(d, name, type, n, values), "an attribute");
}

static void set_part(struct making *m, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                     cudnnBackendDescriptor_t part)
{
    set(m, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

static void close_part(struct making *m, cudnnBackendDescriptor_t d, const char *what)
{
    if (d)
        note(m, cudnnBackendFinalize(d), what);
}

// --- the operation graph ---------------------------------------------------------------------------------------------

static cudnnDataType_t data_type(enum gpu_type type)
{
    return type == GPU_F32 ? CUDNN_DATA_FLOAT : type == GPU_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
}

static cudnnBackendDescriptor_t add_tensor(struct making *m, const struct gpu_tensor *t, int64_t uid, bool is_virtual)
{
    cudnnBackendDescriptor_t d = open_part(m, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t type = is_virtual ? CUDNN_DATA_FLOAT : data_type(m->conv->type);
    int64_t alignment = t->alignment;
    set(m, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(m, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t->rank, t->dim);
    set(m, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t->rank, t->stride);
    set(m, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(m, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    set(m, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    close_part(m, d, "a tensor");
    return d;
}

// The result of an operation: the last one's is z, others are virtual.
static cudnnBackendDescriptor_t add_result(struct making *m, bool is_last)
{
    return is_last ? add_tensor(m, &m->conv->z, UID_Z, false)
                   : add_tensor(m, &m->conv->z, UID_VIRTUAL + m->n_virtual++, true);
}

static cudnnBackendDescriptor_t add_bias(struct making *m)
{
    struct gpu_tensor bias = {.rank = m->conv->z.rank, .alignment = 16};
    for (int i = 0; i < bias.rank; i++) {
        bias.dim[i] = i == 1 ? m->conv->z.dim[1] : 1;
        bias.stride[i] = i == 1 ? 1 : m->conv->z.dim[1];
    }
    return add_tensor(m, &bias, UID_BIAS, false);
}

static void add_operation(struct making *m, cudnnBackendDescriptor_t d, const char *what)
{
    close_part(m, d, what);
    m->operations[m->n_operations++] = d;
}

static cudnnBackendDescriptor_t add_window(struct making *m)
{
    cudnnBackendDescriptor_t d = open_part(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const struct gpu_conv *c = m->conv;
    cudnnDataType_t computing = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t n = c->x.rank - 2;
    set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &computing);
    set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n);
    set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, c->pad_begin);
    set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, c->pad_end);
    set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, c->stride);
    set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, c->dilation);
    close_part(m, d, "the window");
    return d;
}

static cudnnBackendDescriptor_t add_convolution(struct making *m, bool is_last)
{
    cudnnBackendDescriptor_t x = add_tensor(m, &m->conv->x, UID_X, false);
    cudnnBackendDescriptor_t w = add_tensor(m, &m->conv->w, UID_W, false), window = add_window(m);
    cudnnBackendDescriptor_t z = add_result(m, is_last);
    cudnnBackendDescriptor_t d = open_part(m, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    float alpha = 1, beta = 0;
    set_part(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    set_part(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    set_part(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, z);
    set_part(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
    set(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &alpha);
    set(m, d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &beta);
    add_operation(m, d, "the convolution");
    return z;
}

// `other` NULL: a function of x alone.
static cudnnBackendDescriptor_t add_pointwise(struct making *m, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                              cudnnBackendDescriptor_t other, bool is_last)
{
    cudnnBackendDescriptor_t what = open_part(m, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), z = add_result(m, is_last);
    cudnnDataType_t computing = CUDNN_DATA_FLOAT;
    set(m, what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(m, what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &computing);
    close_part(m, what, "a function");
    cudnnBackendDescriptor_t d = open_part(m, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_part(m, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
    set_part(m, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (other)
        set_part(m, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, other);
    set_part(m, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, z);
    add_operation(m, d, "an operation");
    return z;
}

static void make_graph(struct making *m)
{
    const struct gpu_conv *c = m->conv;
    bool has_relu = c->activation == GPU_RELU;
    cudnnBackendDescriptor_t last = add_convolution(m, !c->has_residual && !c->has_bias && !has_relu);
    if (c->has_residual)
        last = add_pointwise(m, CUDNN_POINTWISE_ADD, last, add_tensor(m, &c->z, UID_RESIDUAL, false),
                             !c->has_bias && !has_relu);
    if (c->has_bias)
        last = add_pointwise(m, CUDNN_POINTWISE_ADD, last, add_bias(m), !has_relu);
    if (has_relu)
        add_pointwise(m, CUDNN_POINTWISE_RELU_FWD, last, NULL, true);
    m->graph = open_part(m, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (m->handle)
        set(m, m->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &m->handle);
    set(m, m->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, m->n_operations, m->operations);
    close_part(m, m->graph, "the graph");
}

// --- the device ------------------------------------------------------------------------------------------------------

// A device of each architecture as the library describes one, where there is none.
static const struct typical_device {
    int version, multiprocessors, clock, memory_clock, cache, shared, registers_blocks, threads;
    long long memory;
    const char *name;
} typical_devices[] = {
    {75, 40, 1590000, 5001000, 4194304, 65536, 16, 1024, 15828320256, "Tesla T4"},
    {80, 108, 1410000, 1593000, 41943040, 166912, 32, 2048, 85899345920, "NVIDIA A100"},
    {86, 84, 1695000, 9751000, 6291456, 101376, 16, 1536, 25769803776, "NVIDIA GeForce RTX 3090"},
    {89, 128, 2520000, 10501000, 75497472, 101376, 24, 1536, 25769803776, "NVIDIA GeForce RTX 4090"},
    {90, 132, 1980000, 3201000, 62914560, 232448, 32, 2048, 150754820096, "NVIDIA H200"},
    {100, 148, 1965000, 3996000, 132644864, 232448, 32, 2048, 192000000000, "NVIDIA B200"},
    {120, 170, 2407000, 14001000, 100663296, 101376, 24, 1536, 34359738368, "NVIDIA GeForce RTX 5090"},
};

static bool describe_typical(const char *architecture, char *ret_text)
{
    int version = 0;
    sscanf(architecture, "sm_%d", &version);
    for (size_t i = 0; i < sizeof typical_devices / sizeof *typical_devices; i++) {
        const struct typical_device *d = &typical_devices[i];
        if (d->version != version)
            continue;
        snprintf(ret_text, DESCRIPTION_SIZE,
                 "{\"maxGridSize\": [2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64], "
                 "\"regsPerBlock\": 65536, \"multiProcessorCount\": %d, \"smClockRateKHz\": %d, "
                 "\"memClockRateKHz\": %d, \"l2CacheSize\": %d, \"warpSize\": 32, \"maxSharedMemoryPerBlock\": 49152, "
                 "\"maxSharedMemoryPerBlockOptin\": %d, \"reservedSharedMemoryPerBlock\": %d, "
                 "\"maxRegistersPerSM\": 65536, \"maxCtasPerSM\": %d, \"maxThreadsPerBlock\": 1024, "
                 "\"maxThreadsPerSM\": %d, \"pciDeviceId\": 0, \"isTccDriver\": 0, \"supportCoopLaunch\": 1, "
                 "\"deviceVer\": %d, \"driverVer\": 13000, \"cudaDeviceId\": 0, \"totalGlobalMem\": %lld, "
                 "\"deviceName\": \"%s\"}",
                 d->multiprocessors, d->clock, d->memory_clock, d->cache, d->shared, version >= 80 ? 1024 : 0,
                 d->registers_blocks, d->threads, version * 10, d->memory, d->name);
        return true;
    }
    return false;
}

static bool make_device(struct making *m, const struct gpu *gpu, const char *architecture)
{
    char text[DESCRIPTION_SIZE];
    m->handle = gpu ? gpu->cudnn : NULL;
    if (gpu)
        return true;
    if (!describe_typical(architecture, text))
        return note(m, CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, architecture);
    m->device = open_part(m, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    set(m, m->device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)strlen(text), text);
    close_part(m, m->device, "the device");
    return m->status == CUDNN_STATUS_SUCCESS;
}

static bool start(struct making *m, const struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                  char *ret_reason)
{
    char more[256] = "";
    *m = (struct making){.conv = conv, .status = CUDNN_STATUS_SUCCESS};
    if (make_device(m, gpu, architecture))
        make_graph(m);
    if (m->status == CUDNN_STATUS_SUCCESS)
        return true;
    cudnnGetLastErrorString(more, sizeof more);
    plugin_fail(ret_reason, "cuDNN refuses %s: %s %.200s", m->failed, cudnnGetErrorString(m->status), more);
    free_parts(m);
    return false;
}

// --- engines ---------------------------------------------------------------------------------------------------------

static cudnnBackendDescriptor_t new_descriptor(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;
    return cudnnBackendCreateDescriptor(type, &d) == CUDNN_STATUS_SUCCESS ? d : NULL;
}

static bool has_note(cudnnBackendDescriptor_t engine, cudnnBackendNumericalNote_t wanted)
{
    cudnnBackendNumericalNote_t notes[MOST_NOTES];
    int64_t n = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, &n,
                                 notes) != CUDNN_STATUS_SUCCESS)
        return false;
    for (int64_t i = 0; i < n && i < MOST_NOTES; i++)
        if (notes[i] == wanted)
            return true;
    return false;
}

// f32 is f32: on tensor cores it is TF32. Results must not change from run to run, nor lose more than other engines do.
static bool is_allowed(cudnnBackendDescriptor_t engine, const struct gpu_conv *conv)
{
    bool is_exact = conv->type == GPU_F32 && !conv->allows_tf32;
    return !has_note(engine, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) &&
           !has_note(engine, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) &&
           !has_note(engine, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13) &&
           !has_note(engine, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) &&
           !(is_exact && (has_note(engine, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                          has_note(engine, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)));
}

static int64_t add_knobs(cudnnBackendDescriptor_t config, char *text, size_t size)
{
    cudnnBackendDescriptor_t knobs[MOST_KNOBS];
    int64_t n = 0, ignored;
    for (int i = 0; i < MOST_KNOBS; i++)
        knobs[i] = new_descriptor(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_KNOBS, &n,
                             knobs);
    for (int i = 0; i < MOST_KNOBS; i++) {
        cudnnBackendKnobType_t type;
        int64_t value;
        if (i < n &&
            cudnnBackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &ignored,
                                     &type) == CUDNN_STATUS_SUCCESS &&
            cudnnBackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &ignored,
                                     &value) == CUDNN_STATUS_SUCCESS) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, " %d=%" PRId64, (int)type, value);
        }
        cudnnBackendDestroyDescriptor(knobs[i]);
    }
    return n;
}

// False: the engine of the configuration is not allowed, or cannot be put in words.
static bool read_config(cudnnBackendDescriptor_t config, const struct gpu_conv *conv, struct gpu_choice *ret_choice)
{
    cudnnBackendDescriptor_t engine = new_descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t n = 0, index = 0;
    char text[4 * GPU_CHOICE_SIZE];
    bool is_read = cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n,
                                            &engine) == CUDNN_STATUS_SUCCESS &&
                   cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &n, &index) ==
                       CUDNN_STATUS_SUCCESS &&
                   is_allowed(engine, conv);
    snprintf(text, sizeof text, "engine %" PRId64, index);
    is_read = is_read && add_knobs(config, text, sizeof text) <= MOST_KNOBS && strlen(text) < GPU_CHOICE_SIZE;
    if (is_read)
        memcpy(ret_choice->text, text, strlen(text) + 1);
    cudnnBackendDestroyDescriptor(engine);
    return is_read;
}

// The device that a plan or a list of engines is for, as it was described. With a handle, the graph knows.
static bool set_device(const struct making *m, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name)
{
    return !m->device ||
           cudnnBackendSetAttribute(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &m->device) == CUDNN_STATUS_SUCCESS;
}

static bool set_handle(const struct making *m, cudnnBackendDescriptor_t plan)
{
    return !m->handle || cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                                                  &m->handle) == CUDNN_STATUS_SUCCESS;
}

// A plan of a configuration that needs no more workspace than there is; NULL otherwise.
static cudnnBackendDescriptor_t plan_config(const struct making *m, cudnnBackendDescriptor_t config)
{
    cudnnBackendDescriptor_t plan = new_descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t workspace = 0, n = 0;
    if (cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                 &config) == CUDNN_STATUS_SUCCESS &&
        set_handle(m, plan) && set_device(m, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) &&
        cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &workspace) ==
            CUDNN_STATUS_SUCCESS &&
        workspace <= (int64_t)GPU_WORKSPACE_BYTES)
        return plan;
    cudnnBackendDestroyDescriptor(plan);
    return NULL;
}

static bool is_listed(const struct gpu_choice *choices, int n, const struct gpu_choice *wanted)
{
    for (int i = 0; i < n; i++)
        if (strcmp(choices[i].text, wanted->text) == 0)
            return true;
    return false;
}

// Adds what the heuristics of one mode propose and what can be planned.
static int list_mode(const struct making *m, cudnnBackendHeurMode_t mode, int n, int most,
                     struct gpu_choice *ret_choices)
{
    cudnnBackendDescriptor_t heuristics = new_descriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), configs[MOST_CONFIGS];
    int64_t found = 0;
    for (int i = 0; i < MOST_CONFIGS; i++)
        configs[i] = new_descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    bool is_asked = cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &m->graph) == CUDNN_STATUS_SUCCESS &&
                    cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode) ==
                        CUDNN_STATUS_SUCCESS &&
                    set_device(m, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) &&
                    cudnnBackendFinalize(heuristics) == CUDNN_STATUS_SUCCESS &&
                    cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                             MOST_CONFIGS, &found, configs) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; is_asked && i < found && i < MOST_CONFIGS && n < most; i++) {
        struct gpu_choice choice;
        cudnnBackendDescriptor_t plan;
        if (!read_config(configs[i], m->conv, &choice) || is_listed(ret_choices, n, &choice) ||
            !(plan = plan_config(m, configs[i])))
            continue;
        ret_choices[n++] = choice;
        cudnnBackendDestroyDescriptor(plan);
    }
    for (int i = 0; i < MOST_CONFIGS; i++)
        cudnnBackendDestroyDescriptor(configs[i]);
    cudnnBackendDestroyDescriptor(heuristics);
    return n;
}

static int list_choices(const struct making *m, int most, struct gpu_choice *ret_choices)
{
    int n = list_mode(m, CUDNN_HEUR_MODE_A, 0, most, ret_choices);
    return list_mode(m, CUDNN_HEUR_MODE_FALLBACK, n, most, ret_choices);
}

int plugin_conv_choices(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason)
{
    struct making m;
    if (!start(&m, gpu, architecture, conv, ret_reason))
        return 0;
    int n = list_choices(&m, most, ret_choices);
    if (n == 0)
        plugin_fail(ret_reason, "cuDNN has no engine for it");
    free_parts(&m);
    return n;
}

// --- plans -----------------------------------------------------------------------------------------------------------

static cudnnBackendDescriptor_t open_engine(struct making *m, int64_t index)
{
    cudnnBackendDescriptor_t engine = open_part(m, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_part(m, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, m->graph);
    set(m, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    if (m->device)
        set_part(m, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, m->device);
    close_part(m, engine, "the engine");
    return engine;
}

static int64_t read_knobs(struct making *m, const char *text, cudnnBackendDescriptor_t *ret_knobs)
{
    int64_t n = 0, value;
    int number, length;
    while (n < MOST_KNOBS && m->n_parts < MOST_PARTS &&
           sscanf(text, " %d=%" SCNd64 "%n", &number, &value, &length) == 2) {
        cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)number;
        cudnnBackendDescriptor_t knob = open_part(m, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set(m, knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
        set(m, knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
        close_part(m, knob, "a setting");
        ret_knobs[n++] = knob;
        text += length;
    }
    return n;
}

static cudnnBackendDescriptor_t plan_choice(struct making *m, const char *choice)
{
    cudnnBackendDescriptor_t knobs[MOST_KNOBS];
    int64_t index;
    int length;
    if (sscanf(choice, "engine %" SCNd64 "%n", &index, &length) != 1)
        return NULL;
    cudnnBackendDescriptor_t engine = open_engine(m, index), config;
    int64_t n = read_knobs(m, choice + length, knobs);
    config = open_part(m, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_part(m, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (n)
        set(m, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, knobs);
    close_part(m, config, "the configuration");
    return m->status == CUDNN_STATUS_SUCCESS ? plan_config(m, config) : NULL;
}

static bool run_conv(struct gpu *gpu, const struct gpu_plan *base, const struct gpu_operands *o)
{
    const struct conv_plan *p = (const struct conv_plan *)base;
    int64_t uids[5] = {UID_X, UID_W, UID_Z}, n = 3;
    const void *pointers[5] = {o->x, o->y, o->z}, *workspace = o->workspace;
    if (p->has_bias) {
        uids[n] = UID_BIAS;
        pointers[n++] = o->bias;
    }
    if (p->has_residual) {
        uids[n] = UID_RESIDUAL;
        pointers[n++] = o->residual;
    }
    cudnnBackendDescriptor_t pack = new_descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    bool is_run = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, uids) ==
                      CUDNN_STATUS_SUCCESS &&
                  cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n,
                                           pointers) == CUDNN_STATUS_SUCCESS &&
                  cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                           &workspace) == CUDNN_STATUS_SUCCESS &&
                  cudnnBackendFinalize(pack) == CUDNN_STATUS_SUCCESS &&
                  cudnnBackendExecute(gpu->cudnn, p->plan, pack) == CUDNN_STATUS_SUCCESS;
    cudnnBackendDestroyDescriptor(pack);
    return is_run;
}

static void free_conv(struct gpu_plan *base)
{
    struct conv_plan *p = (struct conv_plan *)base;
    if (p->plan)
        cudnnBackendDestroyDescriptor(p->plan);
    free_parts(&p->making);
    free(p);
}

struct gpu_plan *plugin_plan_conv(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                                  const char *choice, char *ret_reason)
{
    struct conv_plan *p = calloc(1, sizeof *p);
    p->base.run = run_conv;
    p->base.free = free_conv;
    p->has_bias = conv->has_bias;
    p->has_residual = conv->has_residual;
    if (!start(&p->making, gpu, architecture, conv, ret_reason)) {
        free(p);
        return NULL;
    }
    if (choice && *choice)
        snprintf(p->base.choice.text, GPU_CHOICE_SIZE, "%s", choice);
    else if (!list_choices(&p->making, 1, &p->base.choice))
        plugin_fail(ret_reason, "cuDNN has no engine for it");
    p->plan = plan_choice(&p->making, p->base.choice.text);
    p->making.conv = NULL;   // the caller's
    if (p->plan)
        return &p->base;
    free_conv(&p->base);
    return NULL;
}
