// The null GPU as a plugin: see null_gpu.h.
#include "tests/cuda/null_gpu.h"
#include "tests/cuda/made_up_gpu.h"

#include "core/memory/hash.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURE "sm_90"
#define ENGINES 10
#define ADDRESS_STEP ((size_t)256)
#define LAUNCH_SECONDS 2e-6

struct gpu {
    struct gpu_clock clock;
    double *recording;   // seconds of what is captured; NULL: nothing is
    size_t next_address;
    struct null_gpu_counts counts;
};
struct gpu_kernel {
    uint64_t hash;
};
struct gpu_graph {
    double seconds;
};
struct gpu_plan {
    struct gpu_choice choice;
    struct gpu_plan *real;   // cuDNN's; NULL: there is no toolkit, or it is of a product
    double seconds;
};

// --- the toolkit -----------------------------------------------------------------------------------------------------

// The plugin that drives real GPUs, of which what needs none is used; NULL: it was not built.
static const struct gpu_api *toolkit(void)
{
    const char *path = getenv("TASO_NULL_TOOLKIT");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *symbol;
    gpu_entry *entry;
    if (!library || !(symbol = dlsym(library, GPU_ENTRY)))
        return NULL;
    memcpy(&entry, &symbol, sizeof entry);
    return entry()->version == GPU_API_VERSION ? entry() : NULL;
}

static void describe(char *ret_text, size_t size)
{
    char versions[128] = "no toolkit";
    if (toolkit())
        toolkit()->describe(versions, sizeof versions);
    snprintf(ret_text, size, "nothing computed, %s", versions);
}

static bool compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason)
{
    if (toolkit())
        return toolkit()->compile(source, architecture, ret_code, ret_size, ret_reason);
    *ret_size = sizeof(uint64_t);
    *ret_code = malloc(*ret_size);
    memcpy(*ret_code, &(uint64_t){hash_string(source)}, *ret_size);
    return true;
}

static void free_code(void *code)
{
    if (toolkit())
        toolkit()->free_code(code);
    else
        free(code);
}

// --- what things take ------------------------------------------------------------------------------------------------

// From 0.1 to 0.5 of the peak: what an engine reaches for shapes of a kind, and some percent for each shape.
static double share_of_peak(const char *choice, uint64_t kind, uint64_t shape)
{
    double of_kind = (double)((hash_string(choice) * 31 + kind * 1000003) & 1023) / 1023;
    double of_shape = (double)(hash_bytes(&shape, sizeof shape, hash_string(choice)) & 1023) / 1023;
    return (0.1 + 0.4 * of_kind) * (1 + 0.1 * of_shape);
}

static double rate_of(enum gpu_type type, bool allows_tf32)
{
    return 66.9e12 * (type != GPU_F32 ? 14 : allows_tf32 ? 7 : 1);
}

static double seconds_of_conv(const struct gpu_conv *c, const char *choice)
{
    double operations = 2, bytes = 0, size = c->type == GPU_F32 ? 4 : 2;
    const struct gpu_tensor *tensors[] = {&c->x, &c->w, &c->z};
    for (int t = 0; t < 3; t++) {
        double elements = 1;
        for (int i = 0; i < tensors[t]->rank; i++)
            elements *= (double)tensors[t]->dim[i];
        bytes += elements * size;
        operations *= t == 0 ? 1 : t == 1 ? elements / (double)c->w.dim[0] : elements;
    }
    uint64_t kind = hash_bytes(&c->w.dim[2], 2 * sizeof c->w.dim[2], hash_bytes(c->stride, sizeof c->stride, 0));
    double share = share_of_peak(choice, kind, hash_bytes(c->z.dim, sizeof c->z.dim, 0));
    return LAUNCH_SECONDS + fmax(operations / (rate_of(c->type, c->allows_tf32) * share), bytes / 4e12);
}

static double seconds_of_product(const struct gpu_product *p, const char *choice)
{
    double places = (double)(p->m * p->n) * (double)p->batches, operations = 2 * places * (double)p->k;
    double bytes =
        (p->type == GPU_F32 ? 4.0 : 2.0) * (places + (double)(p->m + p->n) * (double)p->k * (double)p->batches);
    double share = share_of_peak(choice, (uint64_t)p->type, hash_bytes(&p->m, 3 * sizeof p->m, 0));
    return LAUNCH_SECONDS + fmax(operations / (rate_of(p->type, p->allows_tf32) * share), bytes / 4e12);
}

static bool take(struct gpu *gpu, double seconds)
{
    *(gpu->recording ? gpu->recording : &gpu->clock.seconds) += seconds;
    gpu->counts.n_launches++;
    return true;
}

// --- libraries -------------------------------------------------------------------------------------------------------

static int conv_choices(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv, int most,
                        struct gpu_choice *ret_choices, char *ret_reason)
{
    return toolkit() ? toolkit()->conv_choices(NULL, ARCHITECTURE, conv, most, ret_choices, ret_reason)
                     : name_engines("engine %d", ENGINES, most, ret_choices);
}

// cuBLASLt has to be started on a device: its algorithms are names here.
static int product_choices(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason)
{
    return name_engines("algorithm %x 0 0 0 0 0 0 0", ENGINES, most, ret_choices);
}

static struct gpu_plan *new_plan(struct gpu *gpu, struct gpu_plan *real, const char *choice)
{
    struct gpu_plan *plan = calloc(1, sizeof *plan);
    plan->real = real;
    snprintf(plan->choice.text, GPU_CHOICE_SIZE, "%s", choice);
    gpu->counts.n_plans++;
    return plan;
}

static struct gpu_plan *plan_conv(struct gpu *gpu, const char *architecture, const struct gpu_conv *conv,
                                  const char *choice, char *ret_reason)
{
    struct gpu_choice first;
    struct gpu_plan *real = NULL;
    if ((!choice || !*choice) && conv_choices(gpu, architecture, conv, 1, &first, ret_reason) == 0)
        return NULL;
    choice = choice && *choice ? choice : first.text;
    if (toolkit() && !(real = toolkit()->plan_conv(NULL, ARCHITECTURE, conv, choice, ret_reason)))
        return NULL;
    struct gpu_plan *plan = new_plan(gpu, real, choice);
    plan->seconds = seconds_of_conv(conv, choice);
    return plan;
}

static struct gpu_plan *plan_product(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason)
{
    struct gpu_plan *plan = new_plan(gpu, NULL, choice && *choice ? choice : "algorithm 0 0 0 0 0 0 0 0");
    plan->seconds = seconds_of_product(product, plan->choice.text);
    return plan;
}

static bool run(struct gpu *gpu, const struct gpu_plan *plan, const struct gpu_operands *operands)
{
    return take(gpu, plan->seconds);
}

static void free_plan(struct gpu_plan *plan)
{
    if (plan->real)
        toolkit()->free_plan(plan->real);
    free(plan);
}

// --- kernels, captures, time -----------------------------------------------------------------------------------------

static struct gpu_kernel *load(struct gpu *gpu, const void *code, size_t size, char *ret_reason)
{
    struct gpu_kernel *kernel = malloc(sizeof *kernel);
    kernel->hash = hash_bytes(code, size, 0);
    gpu->counts.n_kernels++;
    return kernel;
}

static void unload(struct gpu *gpu, struct gpu_kernel *kernel)
{
    free(kernel);
}

static bool launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                   void *const *addresses)
{
    return take(gpu, 1e-6 + (double)blocks * threads * 4e-12);
}

static bool begin_capture(struct gpu *gpu, char *ret_reason)
{
    gpu->recording = calloc(1, sizeof *gpu->recording);
    return true;
}

static struct gpu_graph *end_capture(struct gpu *gpu, char *ret_reason)
{
    struct gpu_graph *graph = malloc(sizeof *graph);
    graph->seconds = *gpu->recording;
    free(gpu->recording);
    gpu->recording = NULL;
    return graph;
}

static bool launch_graph(struct gpu *gpu, struct gpu_graph *graph)
{
    gpu->counts.n_graphs++;
    return take(gpu, graph->seconds);
}

static void free_graph(struct gpu_graph *graph)
{
    free(graph);
}

// --- the device ------------------------------------------------------------------------------------------------------

static struct gpu *open_gpu(int ordinal, char *ret_reason)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    gpu->next_address = ADDRESS_STEP;
    return gpu;
}

static void close_gpu(struct gpu *gpu)
{
    const char *path = getenv("TASO_NULL_COUNTS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "{\"plans\": %zu, \"kernels\": %zu, \"launches\": %zu, \"graphs\": %zu, \"seconds\": %.6g}\n",
                gpu->counts.n_plans, gpu->counts.n_kernels, gpu->counts.n_launches, gpu->counts.n_graphs,
                gpu->clock.seconds);
        fclose(out);
    }
    free(gpu);
}

static void get_information(struct gpu *gpu, struct gpu_information *ret_information)
{
    *ret_information = (struct gpu_information){.name = "null GPU",
                                                .architecture = ARCHITECTURE,
                                                .multiprocessors = 132,
                                                .memory_bytes = (size_t)1 << 37,
                                                .cache_bytes = 62914560,
                                                .bytes_per_second = 4.8e12,
                                                .flops_per_second = 66.9e12};
}

// Addresses that nothing stands at.
static void *allocate(struct gpu *gpu, size_t bytes, char *ret_reason)
{
    size_t address = gpu->next_address;
    gpu->next_address += (bytes / ADDRESS_STEP + 1) * ADDRESS_STEP;
    return (void *)address;
}

static void release(struct gpu *gpu, void *memory)
{
}

static bool upload(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    return true;
}

static bool download(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
    memset(to, 0, bytes);
    return true;
}

static bool fill(struct gpu *gpu, void *to, int byte, size_t bytes)
{
    return true;
}

const struct null_gpu_counts *null_gpu_counts_of(const struct gpu *gpu)
{
    return &gpu->counts;
}

static const struct gpu_api null_gpu = TABLE_OF_GPU(null_prelude);

__attribute__((visibility("default"))) const struct gpu_api *taso_gpu_api(void)
{
    return &null_gpu;
}
