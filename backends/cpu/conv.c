// Convolution: in any layout of images, weights packed once into what the library prefers, bias and activations fused.
#include "backends/cpu/cpu_internal.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include <string.h>

struct prepared_conv {
    struct onednn_primitive *primitive;
    struct onednn_tensor plain_weights;
    struct view source, weights, target;
    const struct loop *loop;   // the epilogue, or NULL
    struct cpu_epilogue epilogue;
    bool has_constant_weights;
    char *packed;
    struct cpu_fallback *fallback;   // instead of the primitive, or NULL
};

#define PLAIN_CHANNELS 4   // so few of the source do not fill a block: it stays row-major when the result has blocks

// Blocks of channels are taken where each group has whole ones, or each channel is a group.
static unsigned layouts_of_conv(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    int64_t groups = cpu_attribute_int(&g->nodes.items[node], ROLE_GROUPS);
    int64_t to = graph_type(g, g->nodes.items[node].first_output)->dim[1];
    int64_t from = graph_type(g, graph_inputs(g, node)[0])->dim[1];
    unsigned mask = planner_layouts(p, node);
    for (enum layout l = 0; l < LAYOUT_COUNT; l++) {
        int block = layout_block(l);
        bool is_first = groups == 1 && from <= PLAIN_CHANNELS, is_depthwise = groups == from && groups == to;
        if (block && !is_depthwise && (to / groups % block || (from / groups % block && !is_first)))
            mask &= ~LAYOUT_BIT(l);
    }
    return mask;
}

bool cpu_claim_conv(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const tensor_id *inputs = graph_inputs(g, node);
    struct type type = *graph_type(g, n->first_output);
    bool has_entries = type_elements(graph_type(g, inputs[0])) && type_elements(graph_type(g, inputs[1]));
    if (!cpu_is_computed_in_f32(type.dtype) || type.rank > 5 || !has_entries)
        return false;
    enum layout layout = planner_choose(p, n->first_output, layouts_of_conv(p, node), LAYOUT_CHANNELS_LAST);
    enum layout source = layout_suits(layout, graph_type(g, inputs[0])) ? layout : LAYOUT_ROWS;
    struct view operands[2] = {cpu_view_in_f32(p, inputs[0], source), cpu_view_in_f32(p, inputs[1], LAYOUT_ROWS)};
    type.dtype = DTYPE_F32;
    struct view result = planner_allocate_chosen(p, n->first_output, &type, layout);
    planner_add_step(p, &cpu_kernel_conv.base, node, 2, operands, 1, &result);
    return true;
}

static bool accepts_epilogue(const struct planner *p, const struct step *step, const struct loop *loop)
{
    struct cpu_epilogue ignored;
    return cpu_read_epilogue(planner_graph(p), step, loop, 1, &ignored);
}

// --- preparing -------------------------------------------------------------------------------------------------------

static int64_t value_or(const struct attribute_value *value, int i, int64_t standard)
{
    return value->count ? value->ints[i] : standard;
}

static struct onednn_window window_of(const struct node *n, const struct view *weights)
{
    struct onednn_window w = {{0}};
    int spatial = weights->rank - 2;
    for (int i = 0; i < spatial; i++) {
        w.kernel[i] = weights->dim[2 + i];
        w.stride[i] = value_or(cpu_attribute(n, ROLE_STRIDE), i, 1);
        w.dilation[i] = value_or(cpu_attribute(n, ROLE_DILATION), i, 1);
        w.pad_begin[i] = value_or(cpu_attribute(n, ROLE_WINDOW_PADS), i, 0);
        w.pad_end[i] = value_or(cpu_attribute(n, ROLE_WINDOW_PADS), spatial + i, 0);
    }
    return w;
}

static struct onednn_tensor tensor_of_weights(const struct view *weights, int64_t groups)
{
    struct onednn_tensor t = cpu_tensor_of_view(weights);
    if (groups == 1)
        return t;
    memmove(t.dim + 1, t.dim, sizeof t.dim[0] * (size_t)t.rank);
    memmove(t.stride + 1, t.stride, sizeof t.stride[0] * (size_t)t.rank);
    t.rank++;
    t.dim[0] = groups;
    t.dim[1] /= groups;
    t.stride[0] = t.stride[1] * t.dim[1];
    return t;
}

static void make_primitive(struct prepared_conv *c, const struct step_request *r)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct onednn_window window = window_of(n, &c->weights);
    int block = c->source.block ? c->source.block : c->target.block;
    struct onednn_tensor source = cpu_tensor_of_image(&c->source, block),
                         target = cpu_tensor_of_image(&c->target, block);
    struct onednn_tensor bias = {.rank = 1, .dim = {c->target.dim[1]}, .stride = {1}}, weights;
    c->plain_weights = weights = tensor_of_weights(&c->weights, cpu_attribute_int(n, ROLE_GROUPS));
    weights.is_free = true;
    c->primitive = onednn_convolution(r->backend->onednn, &source, &weights, c->epilogue.bias >= 0 ? &bias : NULL,
                                      &target, &window, &c->epilogue.ops);
}

static void free_conv(void *state)
{
    onednn_free(((struct prepared_conv *)state)->primitive);
}

static bool describe_weights_of_conv(const void *state, struct packing *ret_packing)
{
    return onednn_describe_weights(((const struct prepared_conv *)state)->primitive, ret_packing);
}

// Found packed, or else packed now where the weights are known already.
static bool give_weights(struct prepared_conv *c, const struct step_request *r)
{
    struct packing packing;
    size_t bytes = onednn_weights_bytes(c->primitive);
    if (c->has_constant_weights && describe_weights_of_conv(c, &packing))
        c->packed = (char *)cpu_find_packed(r, &packing, bytes);
    if (c->packed)
        return true;
    c->packed = arena_alloc(r->arena, bytes, 64);
    if (!cpu_provide_plain(r))
        return false;
    return !c->has_constant_weights ||
           onednn_pack_weights(c->primitive, &c->plain_weights, address_of_view(r->memory, &c->weights), c->packed) ||
           error_set_code(r->error, EXIT_UNSUPPORTED, NULL, "oneDNN refuses to pack the weights of a convolution");
}

static void *prepare_conv(const struct step_request *r)
{
    struct prepared_conv *c = arena_new(r->arena, struct prepared_conv);
    c->source = r->step->operands[0];
    c->weights = r->step->operands[1];
    c->target = r->step->results[0];
    c->loop = r->step->n_loops ? &r->step->loops[0] : NULL;
    c->has_constant_weights = is_kept_memory(r->plan, c->weights.memory);
    cpu_read_epilogue(r->plan->graph, r->step, c->loop, 1, &c->epilogue);
    make_primitive(c, r);
    if (!c->primitive) {
        c->fallback = cpu_provide_plain(r) ? cpu_fallback_prepare(r) : NULL;
        return c->fallback ? c : NULL;
    }
    if (give_weights(c, r))
        return c;
    free_conv(c);
    return NULL;
}

static size_t scratch_of_conv(const void *state)
{
    return onednn_scratch_bytes(((const struct prepared_conv *)state)->primitive);
}

static bool run_conv(void *state, char *const *memory, char *scratch)
{
    struct prepared_conv *c = state;
    if (c->fallback)
        return cpu_fallback_run(c->fallback, memory);
    if (!c->has_constant_weights &&
        !onednn_pack_weights(c->primitive, &c->plain_weights, address_of_view(memory, &c->weights), c->packed))
        return false;
    struct onednn_arguments a = {.source = address_of_view(memory, &c->source),
                                 .weights = c->packed,
                                 .target = address_of_view(memory, &c->target),
                                 .scratch = scratch};
    cpu_epilogue_arguments(&c->epilogue, c->loop, memory, &a);
    return onednn_run(c->primitive, &a);
}

static int packed_operand_of_conv(const void *state)
{
    const struct prepared_conv *s = state;
    return !s->fallback && s->has_constant_weights ? 1 : -1;
}

static size_t weights_of_conv(const void *state, char **ret_weights)
{
    const struct prepared_conv *s = state;
    *ret_weights = s->packed;
    return onednn_weights_bytes(s->primitive);
}

const struct cpu_kernel cpu_kernel_conv = {
    .base = {.name = "conv", .accepts_epilogue = accepts_epilogue},
    .prepare = prepare_conv,
    .run = run_conv,
    .scratch_bytes = scratch_of_conv,
    .weights = weights_of_conv,
    .packed_operand = packed_operand_of_conv,
    .describe_weights = describe_weights_of_conv,
    .free = free_conv,
};
