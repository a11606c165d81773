// Pooling and local response normalization, in any layout of images.
#include "backends/cpu/cpu_internal.h"
#include "core/memory/arena.h"

struct prepared_pool {
    struct onednn_primitive *primitive;
    struct view source, target;
    struct cpu_fallback *fallback;   // instead of the primitive, or NULL
};

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

static int64_t value_or(const struct attribute_value *value, int i, int64_t standard)
{
    return value->count ? value->ints[i] : standard;
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
    struct prepared_pool *s = arena_new(r->arena, struct prepared_pool);
    struct onednn_window w = {{0}};
    s->source = r->step->operands[0];
    s->target = r->step->results[0];
    int spatial = s->source.rank - 2;
    for (int i = 0; i < spatial; i++) {
        w.kernel[i] = cpu_attribute(n, ROLE_KERNEL)->ints[i];
        w.stride[i] = value_or(cpu_attribute(n, ROLE_STRIDE), i, 1);
        w.dilation[i] = value_or(cpu_attribute(n, ROLE_DILATION), i, 1);
        w.pad_begin[i] = value_or(cpu_attribute(n, ROLE_WINDOW_PADS), i, 0);
        w.pad_end[i] = value_or(cpu_attribute(n, ROLE_WINDOW_PADS), spatial + i, 0);
    }
    int block = s->source.block ? s->source.block : s->target.block;
    struct onednn_tensor source = cpu_tensor_of_image(&s->source, block),
                         target = cpu_tensor_of_image(&s->target, block);
    s->primitive = onednn_pooling(r->backend->onednn, kind_of(n), &source, &target, &w);
    if (!s->primitive)
        s->fallback = cpu_fallback_prepare(r);
    return s;
}

static bool run_pool(void *state, char *const *memory, char *scratch)
{
    struct prepared_pool *s = state;
    if (s->fallback)
        return cpu_fallback_run(s->fallback, memory);
    struct onednn_arguments a = {.source = address_of_view(memory, &s->source),
                                 .target = address_of_view(memory, &s->target),
                                 .scratch = scratch};
    return onednn_run(s->primitive, &a);
}

static size_t scratch_of_pool(const void *state)
{
    return onednn_scratch_bytes(((const struct prepared_pool *)state)->primitive);
}

static void free_pool(void *state)
{
    onednn_free(((struct prepared_pool *)state)->primitive);
}

const struct cpu_kernel cpu_kernel_pool = {
    .base = {.name = "pool"},
    .prepare = prepare_pool,
    .run = run_pool,
    .scratch_bytes = scratch_of_pool,
    .free = free_pool,
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
    struct prepared_pool *s = arena_new(r->arena, struct prepared_pool);
    struct onednn_lrn lrn = {cpu_attribute_int(n, ROLE_SIZE), (float)cpu_attribute_real(n, "alpha"),
                             (float)cpu_attribute_real(n, "beta"), (float)cpu_attribute_real(n, "bias")};
    s->source = r->step->operands[0];
    s->target = r->step->results[0];
    int block = s->source.block ? s->source.block : s->target.block;
    struct onednn_tensor source = cpu_tensor_of_image(&s->source, block),
                         target = cpu_tensor_of_image(&s->target, block);
    s->primitive = onednn_lrn(r->backend->onednn, &source, &target, &lrn);
    if (!s->primitive)
        s->fallback = cpu_fallback_prepare(r);
    return s;
}

const struct cpu_kernel cpu_kernel_lrn = {
    .base = {.name = "lrn"},
    .prepare = prepare_lrn,
    .run = run_pool,
    .scratch_bytes = scratch_of_pool,
    .free = free_pool,
};
