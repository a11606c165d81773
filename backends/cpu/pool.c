// Pooling and local response normalization, in any layout of images.
#include "backends/cpu/primitive.h"
#include "backends/cpu/step_tensors.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"

bool cpu_claim_pool(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    struct type type = *graph_type(g, n->first_output);
    if (!cpu_is_computed_in_f32(type.dtype) || type.rank > 5 || cpu_attribute_int(n, ROLE_ACTIVATION) != 0)
        return false;
    enum layout layout = planner_choose(p, n->first_output, planner_layouts(p, node), LAYOUT_CHANNELS_LAST);
    struct view source = cpu_view_in_f32(p, graph_inputs(g, node)[0], layout);
    type.dtype = DTYPE_F32;
    struct view result = planner_allocate_chosen(p, n->first_output, &type, layout);
    planner_add_step(p, &cpu_kernel_pool.base, node, 1, &source, 1, &result);
    return true;
}

bool cpu_pool_writes_part(const struct planner *p, node_id node, const struct view *part)
{
    const struct node *n = &planner_graph(p)->nodes.items[node];
    return part->dtype == DTYPE_F32 && part->rank <= 5 && cpu_attribute_int(n, ROLE_ACTIVATION) == 0;
}

static enum onednn_pooling kind_of(const struct node *n)
{
    if (operator_find_role(n->op, ROLE_PADDING) < 0)
        return ONEDNN_MAXIMUM;
    return cpu_attribute_int(n, ROLE_PADDING) ? ONEDNN_MEAN_OF_ALL : ONEDNN_MEAN_OF_INSIDE;
}

static void *prepare_pool(const struct step_request *r)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct cpu_primitive *s = arena_new(r->arena, struct cpu_primitive);
    s->source = r->step->operands[0];
    s->target = r->step->results[0];
    cpu_primitive_find_written(s, r);
    struct onednn_window w = cpu_window_of(n, s->source.rank - 2, node_attribute(n, ROLE_KERNEL)->ints);
    int block = s->source.block ? s->source.block : s->written.block;
    struct onednn_tensor source = cpu_tensor_of_image(&s->source, block),
                         target = cpu_tensor_of_image(&s->written, block);
    s->primitive = onednn_pooling(r->backend->onednn, kind_of(n), &source, &target, &w);
    return cpu_primitive_finish(s, r);
}

const struct cpu_kernel cpu_kernel_pool = {
    .base = {.name = "pool"},
    .prepare = prepare_pool,
    .run = cpu_primitive_run,
    .scratch_bytes = cpu_primitive_scratch_bytes,
    .free = cpu_primitive_free,
};

// --- local response normalization ------------------------------------------------------------------------------------

bool cpu_claim_lrn(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const struct type *type = graph_type(g, n->first_output);
    if (type->dtype != DTYPE_F32 || type->rank != 4 || cpu_attribute_int(n, ROLE_SIZE) % 2 == 0)
        return false;
    enum layout layout = planner_choose(p, n->first_output, planner_layouts(p, node), LAYOUT_CHANNELS_LAST);
    struct view source = planner_dense(p, graph_inputs(g, node)[0], layout);
    struct view result = planner_allocate_chosen(p, n->first_output, type, layout);
    planner_add_step(p, &cpu_kernel_lrn.base, node, 1, &source, 1, &result);
    return true;
}

static void *prepare_lrn(const struct step_request *r)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct cpu_primitive *s = arena_new(r->arena, struct cpu_primitive);
    struct onednn_lrn lrn = {cpu_attribute_int(n, ROLE_SIZE), (float)cpu_attribute_real(n, "alpha"),
                             (float)cpu_attribute_real(n, "beta"), (float)cpu_attribute_real(n, "bias")};
    s->source = r->step->operands[0];
    s->target = r->step->results[0];
    int block = s->source.block ? s->source.block : s->target.block;
    struct onednn_tensor source = cpu_tensor_of_image(&s->source, block),
                         target = cpu_tensor_of_image(&s->target, block);
    s->primitive = onednn_lrn(r->backend->onednn, &source, &target, &lrn);
    return cpu_primitive_finish(s, r);
}

const struct cpu_kernel cpu_kernel_lrn = {
    .base = {.name = "lrn"},
    .prepare = prepare_lrn,
    .run = cpu_primitive_run,
    .scratch_bytes = cpu_primitive_scratch_bytes,
    .free = cpu_primitive_free,
};
