#include "tests/cuda/emulated_gpu.h"
#include "tests/cuda/made_up_gpu.h"

#include "core/memory/vec.h"
#include "expressions/elements.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZING                                                                                                     \
    "-fsanitize=address,bounds,integer-divide-by-zero,shift,signed-integer-overflow -fno-sanitize-recover=all"
#else
#define SANITIZING ""
#endif
#define MOST_ADDRESSES 128
#define ENGINES 2
#define CACHE_BYTES ((size_t)1 << 16)

struct work {
    const struct gpu_kernel *kernel;   // NULL: a library's
    unsigned blocks;
    int n;
    void *addresses[MOST_ADDRESSES];
    const struct gpu_plan *plan;
    struct gpu_operands operands;
};
struct gpu_graph {
    VEC(struct work) list;
};
struct touched {
    const void *at;
    size_t bytes;
};
struct gpu {
    struct gpu_clock clock;
    struct gpu_graph *recording;   // NULL: not capturing
    double cold_seconds, rows_seconds, tile_seconds;
    VEC(struct touched) touched;   // weights, and what is filled; the last one last
};
struct gpu_kernel {
    void *library;
    void (*entry)(void *const *addresses, unsigned n_blocks);
    const int *has_tiles;   // known when it has run
};
struct gpu_plan {
    struct gpu_choice choice;
    bool is_conv;
    struct gpu_conv conv;
    struct gpu_product product;
};

// --- code ------------------------------------------------------------------------------------------------------------

static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool is_written = f && fwrite(bytes, 1, size, f) == size;
    return f && fclose(f) == 0 && is_written;
}

static void *read_file(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *ret_size = (size_t)ftell(f);
    rewind(f);
    void *bytes = malloc(*ret_size);
    if (fread(bytes, 1, *ret_size, f) != *ret_size)
        *ret_size = 0;
    fclose(f);
    return bytes;
}

static bool compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason)
{
    char folder[] = "/tmp/taso-kernel-XXXXXX", c[64], so[64], command[512];
    const char *compiler = getenv("TASO_CC");
    if (!mkdtemp(folder))
        return false;
    snprintf(c, sizeof c, "%s/k.c", folder);
    snprintf(so, sizeof so, "%s/k.so", folder);
    // Libraries are those of the program that loads it: to link with them takes as long as to compile.
    snprintf(command, sizeof command, "%s -std=gnu17 -O0 -pipe -w -fno-math-errno %s -shared -fPIC -nostdlib -o %s %s",
             compiler ? compiler : "cc", SANITIZING, so, c);
    bool is_done = write_file(c, source, strlen(source)) && system(command) == 0;
    *ret_code = is_done ? read_file(so, ret_size) : NULL;
    if (!is_done)
        snprintf(ret_reason, GPU_REASON_SIZE, "%.400s; the source is kept", command);
    if (is_done)
        unlink(c);
    unlink(so);
    rmdir(folder);
    return *ret_code != NULL;
}

// Kernels use functions of whatever has this code: a program, or a plugin whose names must be made known to them.
static void show_own_names(void)
{
    Dl_info own;
    if (dladdr(&emulated_gpu, &own) && own.dli_fname)
        dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static struct gpu_kernel *load(struct gpu *gpu, const void *code, size_t size, char *ret_reason)
{
    char path[] = "/tmp/taso-kernel-XXXXXX";
    int file = mkstemp(path);
    show_own_names();
    struct gpu_kernel *k = calloc(1, sizeof *k);
    if (file >= 0 && write_file(path, code, size))
        k->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = k->library ? dlsym(k->library, "kernel_entry") : NULL;
    memcpy(&k->entry, &entry, sizeof entry);
    k->has_tiles = k->library ? dlsym(k->library, "kernel_has_tiles") : NULL;
    close(file);
    unlink(path);
    if (entry)
        return k;
    snprintf(ret_reason, GPU_REASON_SIZE, "%s", dlerror());
    free(k);
    return NULL;
}

static void unload(struct gpu *gpu, struct gpu_kernel *k)
{
    dlclose(k->library);
    free(k);
}

// --- libraries -------------------------------------------------------------------------------------------------------

static const enum dtype dtypes[] = {[GPU_F32] = DTYPE_F32, [GPU_F16] = DTYPE_F16, [GPU_BF16] = DTYPE_BF16};

static double get(enum gpu_type type, const void *data, int64_t at)
{
    double value;
    if (type == GPU_F32)
        return ((const float *)data)[at];
    elements_to_reals(dtypes[type], (const char *)data + at * (int64_t)dtype_size(dtypes[type]), 1, &value);
    return value;
}

static void put(enum gpu_type type, void *data, int64_t at, double value)
{
    elements_from_reals(dtypes[type], &value, 1, (char *)data + at * (int64_t)dtype_size(dtypes[type]));
}

static double activate(enum gpu_activation activation, double x)
{
    if (activation == GPU_RELU)
        return x > 0 ? x : 0;
    return activation == GPU_NO_ACTIVATION ? x
                                           : 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

// The sum over the window and the channels of the group, at place `z` of the result.
static double convolve(const struct gpu_conv *c, const struct gpu_operands *o, const int64_t *z)
{
    int64_t spatial = c->x.rank - 2, taps = 1;
    double sum = 0;
    for (int i = 0; i < spatial; i++)
        taps *= c->w.dim[2 + i];
    int64_t first_channel = z[1] / (c->w.dim[0] / c->groups) * c->w.dim[1];
    for (int64_t channel = 0; channel < c->w.dim[1]; channel++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t x = z[0] * c->x.stride[0] + (first_channel + channel) * c->x.stride[1], rest = tap;
            int64_t w = z[1] * c->w.stride[0] + channel * c->w.stride[1];
            bool is_inside = true;
            for (int64_t i = spatial - 1; i >= 0; i--) {
                int64_t r = rest % c->w.dim[2 + i], at = z[2 + i] * c->stride[i] + r * c->dilation[i] - c->pad_begin[i];
                rest /= c->w.dim[2 + i];
                is_inside = is_inside && at >= 0 && at < c->x.dim[2 + i];
                x += at * c->x.stride[2 + i];
                w += r * c->w.stride[2 + i];
            }
            if (is_inside)
                sum += get(c->type, o->x, x) * get(c->type, o->y, w);
        }
    return sum;
}

static void run_conv(const struct gpu_conv *c, const struct gpu_operands *o)
{
    int64_t places = 1;
    for (int i = 0; i < c->z.rank; i++)
        places *= c->z.dim[i];
    for (int64_t place = 0; place < places; place++) {
        int64_t z[GPU_MAX_RANK], rest = place, at = 0;
        for (int i = c->z.rank - 1; i >= 0; i--) {
            z[i] = rest % c->z.dim[i];
            rest /= c->z.dim[i];
            at += z[i] * c->z.stride[i];
        }
        double value = convolve(c, o, z);
        value += c->has_bias ? get(c->type, o->bias, z[1]) : 0;
        value += c->has_residual ? get(c->type, o->residual, at) : 0;
        put(c->type, o->z, at, activate(c->activation, value));
    }
}

static int64_t place_in(const struct gpu_matrix *m, int64_t batch, int64_t row, int64_t column)
{
    return batch * m->batch_stride + row * m->row_stride + column * m->column_stride;
}

// TF32 has 13 bits less than f32. (Convolutions keep theirs, so that layouts are told apart to the last bit.)
static double factor(const struct gpu_product *p, const void *data, int64_t at)
{
    float value = (float)get(p->type, data, at);
    uint32_t bits;
    if (p->allows_tf32) {
        memcpy(&bits, &value, sizeof bits);
        bits &= ~0x1fffu;
        memcpy(&value, &bits, sizeof bits);
    }
    return value;
}

static void run_product(const struct gpu_product *p, const struct gpu_operands *o)
{
    for (int64_t b = 0; b < p->batches; b++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                double sum =
                    SUM_ALL(double, int64_t, k, p->k,
                            factor(p, o->x, place_in(&p->x, b, i, k)) * factor(p, o->y, place_in(&p->y, b, k, j)));
                int64_t at = place_in(&p->z, b, i, j);
                sum += p->has_bias ? get(p->type, o->bias, p->is_bias_of_rows ? i : j) : 0;
                sum += p->has_residual ? get(p->type, o->residual, place_in(&p->residual, b, i, j)) : 0;
                put(p->type, o->z, at, activate(p->activation, sum));
            }
}

static int conv_choices(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason)
{
    snprintf(ret_reason, GPU_REASON_SIZE, "groups have no engine");
    return conv->groups > 1 ? 0 : name_engines("engine %d", ENGINES, most, ret_choices);
}

static int product_choices(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason)
{
    return product->activation == GPU_GELU_TANH ? 0 : name_engines("engine %d", ENGINES, most, ret_choices);
}

static struct gpu_plan *new_plan(const char *choice)
{
    struct gpu_plan *plan = calloc(1, sizeof *plan);
    snprintf(plan->choice.text, GPU_CHOICE_SIZE, "%s", choice && *choice ? choice : "engine 1");
    return plan;
}

static struct gpu_plan *plan_conv(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                                  const char *choice, char *ret_reason)
{
    if (conv->groups > 1)
        return NULL;
    struct gpu_plan *plan = new_plan(choice);
    plan->is_conv = true;
    plan->conv = *conv;
    return plan;
}

static struct gpu_plan *plan_product(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason)
{
    if (product->activation == GPU_GELU_TANH)
        return NULL;
    struct gpu_plan *plan = new_plan(choice);
    plan->product = *product;
    return plan;
}

static void free_plan(struct gpu_plan *plan)
{
    free(plan);
}

// --- work ------------------------------------------------------------------------------------------------------------

// The first engine of the list is a slow one; who asks for none is given the other, which is slow where a convolution
// has a residual.
static double seconds_of(const struct gpu *gpu, const struct work *w)
{
    const struct gpu_product *p = w->plan ? &w->plan->product : NULL;
    if (p && gpu->rows_seconds > 0 &&
        (w->plan->is_conv ? w->plan->conv.z.stride[1] != 1 : p->x.column_stride == 1 && p->y.column_stride == 1))
        return gpu->rows_seconds;
    if (w->plan && strcmp(w->plan->choice.text, "engine 0") == 0)
        return 4e-3;
    return w->plan && w->plan->is_conv && w->plan->conv.has_residual ? 5e-5 : 1e-5;
}

static void touch(struct gpu *gpu, const void *at, size_t bytes)
{
    if (gpu->cold_seconds > 0)
        vec_push(&gpu->touched, ((struct touched){at, bytes}));
}

// Was less than the cache holds touched since they were?
static bool are_cached(const struct gpu *gpu, const void *weights)
{
    size_t since = 0;
    for (size_t i = gpu->touched.count; i-- > 0 && since < CACHE_BYTES; since += gpu->touched.items[i].bytes)
        if (gpu->touched.items[i].at == weights)
            return true;
    return false;
}

static size_t bytes_of_weights(const struct gpu_plan *plan)
{
    const struct gpu_tensor *w = &plan->conv.w;
    size_t bytes = plan->product.type == GPU_F32 ? 4 : 2;
    for (int i = 0; plan->is_conv && i < w->rank; i++)
        bytes *= (size_t)w->dim[i];
    return plan->is_conv ? bytes : bytes * (size_t)(plan->product.k * plan->product.n);
}

static void do_work(struct gpu *gpu, const struct work *w)
{
    gpu->clock.seconds += seconds_of(gpu, w);
    if (w->plan) {
        gpu->clock.seconds += are_cached(gpu, w->operands.y) ? 0 : gpu->cold_seconds;
        touch(gpu, w->operands.y, bytes_of_weights(w->plan));
    }
    if (w->kernel) {
        w->kernel->entry(w->addresses, w->blocks);
        gpu->clock.seconds += *w->kernel->has_tiles ? gpu->tile_seconds : 0;
    } else if (w->plan->is_conv)
        run_conv(&w->plan->conv, &w->operands);
    else
        run_product(&w->plan->product, &w->operands);
}

static bool take_work(struct gpu *gpu, const struct work *w)
{
    if (gpu->recording)
        vec_push(&gpu->recording->list, *w);
    else
        do_work(gpu, w);
    return true;
}

static bool launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                   void *const *addresses)
{
    struct work w = {.kernel = kernel, .blocks = blocks, .n = n};
    memcpy(w.addresses, addresses, sizeof *addresses * (size_t)n);
    return take_work(gpu, &w);
}

static bool run(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands)
{
    return take_work(gpu, &(struct work){.plan = plan, .operands = *operands});
}

static bool begin_capture(struct gpu *gpu, char *ret_reason)
{
    gpu->recording = calloc(1, sizeof *gpu->recording);
    return true;
}

static struct gpu_graph *end_capture(struct gpu *gpu, char *ret_reason)
{
    struct gpu_graph *graph = gpu->recording;
    gpu->recording = NULL;
    return graph;
}

static bool launch_graph(struct gpu *gpu, struct gpu_graph *graph)
{
    for (size_t i = 0; i < graph->list.count; i++)
        do_work(gpu, &graph->list.items[i]);
    return true;
}

static void free_graph(struct gpu_graph *graph)
{
    vec_free(&graph->list);
    free(graph);
}

// --- the device ------------------------------------------------------------------------------------------------------

static void describe(char *ret_text, size_t size)
{
    snprintf(ret_text, size, "emulation");
}

static struct gpu *open_gpu(int ordinal, char *ret_reason)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    const char *cold = getenv("TASO_EMULATED_COLD"), *rows = getenv("TASO_EMULATED_ROWS");
    const char *tiles = getenv("TASO_EMULATED_TILES");
    gpu->tile_seconds = tiles ? strtod(tiles, NULL) : 3e-3;
    gpu->cold_seconds = cold ? strtod(cold, NULL) : 0;
    gpu->rows_seconds = rows ? strtod(rows, NULL) : 0;
    return gpu;
}

static void close_gpu(struct gpu *gpu)
{
    vec_free(&gpu->touched);
    free(gpu);
}

static void get_information(struct gpu *gpu, struct gpu_information *ret_information)
{
    *ret_information = (struct gpu_information){.name = "processor",
                                                .architecture = "c",
                                                .multiprocessors = 1,
                                                .memory_bytes = (size_t)1 << 30,
                                                .cache_bytes = CACHE_BYTES,
                                                .bytes_per_second = 1e10,
                                                .flops_per_second = 1e11};
}

static void *allocate(struct gpu *gpu, size_t bytes, char *ret_reason)
{
    void *memory = malloc(bytes);
    memset(memory, 0xff, bytes);
    return memory;
}

static void release(struct gpu *gpu, void *memory)
{
    free(memory);
}

static bool upload(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return true;
}
#define download upload

static bool fill(struct gpu *gpu, void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
    touch(gpu, to, bytes);
    return true;
}

static void free_code(void *code)
{
    free(code);
}

const struct gpu_api emulated_gpu = TABLE_OF_GPU(emulated_prelude);
