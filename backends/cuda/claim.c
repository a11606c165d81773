// Concatenations, and definitions as kernels of their own.
#include "backends/cuda/claim.h"

#include "backends/cuda/library.h"
#include "backends/generated/definitions/kernel_definition.h"
#include "backends/instructions/code_cache.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include "graph/graph_whole.h"

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

bool cuda_claim(void *context, struct planner *p, node_id node)
{
    const struct cuda_backend *b = context;
    const struct graph *g = planner_graph(p);
    cuda_claim_operator *claim = kernels[g->nodes.items[node].op->id].claim;
    if (claim && claim(b, p, node))
        return true;
    return code_cache_find(b->base.codes, g, node)->kind == CODE_NONE && claim_definition(p, node);
}

// Generated kernels write anywhere.
bool cuda_writes_part(void *context, const struct planner *p, node_id node, const struct view *part)
{
    const struct library_kernel *kernel = &kernels[planner_graph(p)->nodes.items[node].op->id];
    return !kernel->writes_part || kernel->writes_part(p, node, part);
}
