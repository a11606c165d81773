// Opening the device, or what is known of one that is not here.
#include "backends/cuda/cuda.h"

#include "backends/backend.h"
#include "backends/costs/cost_database.h"
#include "backends/cuda/engines.h"
#include "backends/cuda/kernel_cache.h"
#include "backends/cuda/library.h"
#include "backends/cuda/load.h"
#include "backends/cuda/measure.h"
#include "backends/cuda/model.h"
#include "backends/cuda/roofline.h"
#include "backends/generated/definitions/kernel_definition.h"
#include "backends/instructions/code_cache.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/graph_whole.h"
#include <stdio.h>
#include <string.h>

// --- claims ----------------------------------------------------------------------------------------------------------
// Concatenations, and definitions as kernels of their own.

#define MOST_INPUTS 64

static bool claim_concat(const struct cuda_backend *b, struct planner *p, node_id node)
{
    return planner_claim_concat(p, node, planner_layout_like_inputs(p, node), false);
}

static bool accepts_behind_definition(const struct planner *p, const struct step *step, const struct loop *loop)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    return graph_define(planner_graph(p), step->node, &d, &arena) && d.n_stages == 1 &&
           definition_is_in_single_precision(&d);
}

const struct kernel cuda_kernel_definition = {.name = "definition", .accepts_epilogue = accepts_behind_definition};

// Pooling, gathering and all else that loops do not express: operands as they stand.
static bool claim_definition(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    struct view operands[MOST_INPUTS], results[MAX_OUTPUTS];
    if (n->n_inputs > MOST_INPUTS)
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        operands[i] = planner_view(p, graph_inputs(g, node)[i], LAYOUT_ANY);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        tensor_id t = n->first_output + i;
        enum layout layout = planner_choose(p, t, planner_layouts(p, node), planner_layout_like_inputs(p, node));
        results[i] = planner_allocate_chosen(p, t, graph_type(g, t), layout);
    }
    planner_add_step(p, &cuda_kernel_definition, node, (int)n->n_inputs, operands, (int)n->n_outputs, results);
    return true;
}

// --- all claims ------------------------------------------------------------------------------------------------------

static const struct library_kernel {
    cuda_claim_operator *claim;
    bool (*writes_part)(const struct planner *p, node_id node, const struct view *part);   // NULL: any
} kernels[OP_COUNT] = {
    [OP_CONV] = {cuda_claim_conv, cuda_conv_writes_part},
    [OP_MATMUL] = {cuda_claim_product, cuda_product_writes_part},
    [OP_CONCAT] = {claim_concat},
};

// Images and matrices may stand either way everywhere.
#define IMAGES LAYOUT_BIT(LAYOUT_CHANNELS_LAST)
const struct layout_support cuda_layouts = {
    .of_operator = {[OP_CONV] = IMAGES,
                    [OP_POOLMAX] = IMAGES,
                    [OP_POOLAVG] = IMAGES,
                    [OP_MATMUL] = LAYOUT_BIT(LAYOUT_COLUMNS) | LAYOUT_BIT(LAYOUT_MIDDLE_SWAPPED)},
    .of_loops_on_images = IMAGES,
    .of_loops_on_matrices = LAYOUT_BIT(LAYOUT_COLUMNS),
    .least_share = 0.3,
};

// Claims (plan.h); the context is the device.
static bool claim_node(void *context, struct planner *p, node_id node)
{
    const struct cuda_backend *b = context;
    const struct graph *g = planner_graph(p);
    cuda_claim_operator *claim = kernels[g->nodes.items[node].op->id].claim;
    return (claim && claim(b, p, node)) ||
           (code_cache_find(b->base.codes, g, node)->kind == CODE_NONE && claim_definition(p, node));
}

// Generated kernels write anywhere.
static bool writes_part(void *context, const struct planner *p, node_id node, const struct view *part)
{
    const struct library_kernel *kernel = &kernels[planner_graph(p)->nodes.items[node].op->id];
    return !kernel->writes_part || kernel->writes_part(p, node, part);
}

// Parts of what costs depend on: to be raised when generated kernels get faster or slower, or measuring changes.
#define KERNEL_REVISION 1
#define POLICY_REVISION 4

const struct kernel cuda_kernel_loops = {.name = "loops"}, cuda_kernel_evaluate = {.name = "evaluate"};

static void release_parts(struct cuda_backend *b)
{
    kernel_cache_free(b->kernels);
    vec_free(&b->engines);
    if (b->zeros)
        b->api->release(b->gpu, b->zeros);
    if (b->gpu)
        b->api->close(b->gpu);
    mem_free(b, sizeof *b);
}

static void close_cuda(struct backend *backend)
{
    backend_finish(backend);
    release_parts((struct cuda_backend *)backend);
}

static const struct backend_methods methods = {
    .name = "cuda",
    .knows_small_models = true,
    .list_choices = cuda_list_choices,
    .make_ready = cuda_make_ready,
    .measure = cuda_measure,
    .learn = engines_learn,
    .guess = cuda_guess,
    .least = cuda_least,
    .executor = &cuda_executor,
    .close = close_cuda,
};
static const struct backend_methods methods_on_paper = {
    .name = "cuda", .knows_small_models = true, .guess = cuda_guess, .least = cuda_least, .close = close_cuda};

// --- names of devices ------------------------------------------------------------------------------------------------

// The header of the device's costs: everything that they depend on, and what guesses need.
static void describe_device(const struct cuda_backend *b, const struct backend_options *options, char *ret_text,
                            size_t size)
{
    const struct gpu_information *i = &b->information;
    char versions[128];
    b->api->describe(versions, sizeof versions);
    snprintf(ret_text, size, "%s, %s, %d multiprocessors, %.0f GB/s, %.0f GFLOP/s, %s, kernels %d, policy %d%s",
             i->name, i->architecture, i->multiprocessors, i->bytes_per_second / 1e9, i->flops_per_second / 1e9,
             versions, KERNEL_REVISION, POLICY_REVISION, options->allows_tf32 ? ", tf32" : "");
}

static bool read_description(const char *text, struct gpu_information *ret_information)
{
    struct gpu_information i = {.multiprocessors = 0};
    double bytes, flops;
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof i.name ||
        sscanf(comma, ", %15[a-z0-9_], %d multiprocessors, %lf GB/s, %lf GFLOP/s", i.architecture, &i.multiprocessors,
               &bytes, &flops) != 4 ||
        !(bytes > 0) || !(flops > 0))
        return false;
    memcpy(i.name, text, (size_t)(comma - text));
    i.bytes_per_second = bytes * 1e9;
    i.flops_per_second = flops * 1e9;
    *ret_information = i;
    return true;
}

// --- opening ---------------------------------------------------------------------------------------------------------

struct plan_target cuda_plan_target(struct cuda_backend *b)
{
    return (struct plan_target){.loops = &cuda_kernel_loops,
                                .evaluate = &cuda_kernel_evaluate,
                                .claim = claim_node,
                                .writes_part = writes_part,
                                .context = b,
                                .layouts = &cuda_layouts};
}

static bool open_parts(struct cuda_backend *b, const struct backend_options *options, struct error *error)
{
    char device[256];
    struct plan_target target = cuda_plan_target(b);
    describe_device(b, options, device, sizeof device);
    b->kernels = kernel_cache_new(b->api, b->gpu, b->information.architecture);
    b->zeros = cuda_allocate(b, ZERO_BYTES + COUNTER_BYTES, error);
    return b->zeros && b->api->fill(b->gpu, b->zeros, 0, ZERO_BYTES + COUNTER_BYTES) &&
           backend_init(&b->base, &methods, &target, options, device, error);
}

struct backend *cuda_backend_open_on(const struct gpu_api *api, const struct backend_options *options,
                                     struct error *error)
{
    char reason[GPU_REASON_SIZE];
    struct gpu *gpu = api->open(0, reason);
    if (!gpu) {
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "no GPU: %s", reason);
        return NULL;
    }
    struct cuda_backend *b = mem_alloc_zero(sizeof *b);
    b->api = api;
    b->gpu = gpu;
    api->get_information(gpu, &b->information);
    if (open_parts(b, options, error))
        return &b->base;
    release_parts(b);
    return NULL;
}

// The first device of this kind in the file.
static bool find_device(const char *path, bool allows_tf32, char *ret_device, size_t size,
                        struct gpu_information *ret_information, const char *why_none_is_here, struct error *error)
{
    struct cost_database *costs;
    bool is_found = false;
    if (!cost_database_open(&costs, path, "", error))
        return false;
    for (size_t i = 0; !is_found && i < cost_database_count(costs); i++) {
        const char *device = cost_database_device(costs, i);
        if (text_ends_with(device, ", tf32") != allows_tf32 || !read_description(device, ret_information))
            continue;
        snprintf(ret_device, size, "%s", device);
        is_found = true;
    }
    cost_database_free(costs);
    return is_found || error_set_code(error, EXIT_UNSUPPORTED, path, "no costs of a GPU%s are in the file, and %s",
                                      allows_tf32 ? " with tf32" : "", why_none_is_here);
}

static struct backend *open_on_paper(const struct backend_options *options, struct error *error)
{
    char device[256], reason[GPU_REASON_SIZE];
    struct backend_options chosen = *options;
    struct cuda_backend *b = mem_alloc_zero(sizeof *b);
    struct plan_target target = cuda_plan_target(b);
    chosen.never_measures = true;
    snprintf(reason, sizeof reason, "%.*s", GPU_REASON_SIZE - 1, error->message);
    if (find_device(options->cost_file, options->allows_tf32, device, sizeof device, &b->information, reason, error) &&
        backend_init(&b->base, &methods_on_paper, &target, &chosen, device, error))
        return &b->base;
    mem_free(b, sizeof *b);
    return NULL;
}

struct backend *cuda_backend_open(const struct backend_options *options, struct error *error)
{
    char reason[GPU_REASON_SIZE];
    const struct gpu_api *api = gpu_load(reason);
    struct backend *b = api ? cuda_backend_open_on(api, options, error) : NULL;
    if (b)
        return b;
    if (!api)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "no GPU: %s", reason);
    bool has_file = options->cost_file && *options->cost_file;
    return has_file && error->code == EXIT_UNSUPPORTED ? open_on_paper(options, error) : NULL;
}
