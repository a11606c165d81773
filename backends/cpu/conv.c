// Convolution: in any layout of images, weights packed once into what the library prefers, bias and activations fused.
// Where the library would apply them entry by entry, loops of our own run behind it.
#include "backends/cpu/conv.h"

#include "backends/cpu/epilogue.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/step_tensors.h"
#include "backends/cpu/ways.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "core/memory/arena.h"
#include <stdio.h>
#include <string.h>

#define PLAIN_CHANNELS 4   // so few of the source do not fill a block: it stays row-major when the result has blocks

// Blocks of channels are taken where each group has whole ones, or each channel is a group.
static unsigned layouts_of_conv(const struct planner *p, node_id node)
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

// Whatever the layout of the whole.
bool cpu_conv_writes_part(const struct planner *p, node_id node, const struct view *part)
{
    return part->dtype == DTYPE_F32 && part->rank <= 5 && layouts_of_conv(p, node) == planner_layouts(p, node);
}

static bool accepts_epilogue(const struct planner *p, const struct step *step, const struct loop *loop)
{
    struct cpu_epilogue ignored;
    return cpu_read_epilogue(planner_graph(p), step, loop, 1, &ignored);
}

static bool is_all(const struct attribute_value *value, int64_t wanted)
{
    return ALL(uint32_t, i, value->count, value->ints[i] == wanted);
}

bool cpu_is_dense_conv(const struct plan *plan, const struct step *step)
{
    if (step->kernel != &cpu_kernel_conv.base)
        return false;
    const struct node *n = &plan->graph->nodes.items[step->node];
    const struct view *weights = &step->operands[1];
    return weights->rank == 4 && plan_keeps(plan, weights->memory) && is_all(node_attribute(n, ROLE_STRIDE), 1) &&
           is_all(node_attribute(n, ROLE_DILATION), 1) && cpu_attribute_int(n, ROLE_GROUPS) == 1;
}

// --- preparing -------------------------------------------------------------------------------------------------------

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

static struct onednn_primitive *make_primitive(struct cpu_primitive *c, const struct step_request *r,
                                               enum onednn_algorithm algorithm)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct onednn_window window = cpu_window_of(n, c->weights.rank - 2, c->weights.dim + 2);
    int block = algorithm == ONEDNN_WINOGRAD ? ONEDNN_WINOGRAD_BLOCK
                : c->source.block            ? c->source.block
                                             : c->written.block;
    struct onednn_tensor source = cpu_tensor_of_image(&c->source, block),
                         target = cpu_tensor_of_image(&c->written, block);
    struct onednn_tensor bias = {.rank = 1, .dim = {c->target.dim[1]}, .stride = {1}}, weights;
    c->plain_weights = weights = tensor_of_weights(&c->weights, cpu_attribute_int(n, ROLE_GROUPS));
    weights.is_free = true;
    return onednn_convolution(r->backend->onednn, algorithm, &source, &weights, c->epilogue.bias >= 0 ? &bias : NULL,
                              &target, &window, &c->epilogue.ops);
}

// Has an operand the result's shape? It stands as the target does, or densely.
static bool has_full_operand(const struct postops *ops)
{
    return ANY(int, i, ops->n, ops->items[i].operand == OPERAND_FULL);
}

// An epilogue runs apart where the library would be slow at it, or its relu makes NaN of minus infinity, where what it
// reads stands otherwise than what the primitive writes, or where the library has an algorithm only without it.
static bool is_epilogue_apart(const struct cpu_primitive *c, enum onednn_algorithm algorithm)
{
    if (!c->primitive)
        return algorithm != ONEDNN_DIRECT && c->loop;
    return (c->move && has_full_operand(&c->epilogue.ops)) ||
           (c->epilogue.ops.n && onednn_applies_slowly(c->primitive));
}

static void run_epilogue_apart(struct cpu_primitive *c, const struct step_request *r, enum onednn_algorithm algorithm)
{
    onednn_free(c->primitive);
    cpu_read_epilogue(r->plan->graph, r->step, NULL, 1, &c->epilogue);
    c->primitive = make_primitive(c, r, algorithm);
    c->loops = cpu_prepare_behind(r);
}

// A primitive with that algorithm, its epilogue behind it where it does not take it. NULL: failed, or the library has
// no such algorithm for the step; the direct one falls back to the definition.
static void *prepare(const struct step_request *r, enum onednn_algorithm algorithm)
{
    struct cpu_primitive *c = arena_new(r->arena, struct cpu_primitive);
    c->source = r->step->operands[0];
    c->weights = r->step->operands[1];
    c->target = r->step->results[0];
    cpu_primitive_find_written(c, r);
    c->loop = r->step->n_loops ? &r->step->loops[0] : NULL;
    c->has_weights = true;
    c->has_constant_weights = plan_keeps(r->plan, c->weights.memory);
    cpu_read_epilogue(r->plan->graph, r->step, c->loop, 1, &c->epilogue);
    c->primitive = make_primitive(c, r, algorithm);
    if (is_epilogue_apart(c, algorithm))
        run_epilogue_apart(c, r, algorithm);
    return c->primitive || algorithm == ONEDNN_DIRECT ? cpu_primitive_finish(c, r) : NULL;
}

static void *prepare_conv(const struct step_request *r)
{
    return prepare(r, ONEDNN_DIRECT);
}

const struct cpu_kernel cpu_kernel_conv = {
    .base = {.name = "conv", .accepts_epilogue = accepts_epilogue},
    .prepare = prepare_conv,
    CPU_PRIMITIVE_WITH_WEIGHTS,
};

// --- Winograd --------------------------------------------------------------------------------------------------------
//
// Convolutions of 3x3 in steps of one, where the library has the algorithm: it multiplies less, and loses more digits.
// Its kernels take images in blocks of 16 channels; an epilogue that they do not apply runs behind them.

enum { BLOCK = ONEDNN_WINOGRAD_BLOCK };

static bool is_in_blocks(const struct view *image)
{
    return cpu_tensor_of_image(image, BLOCK).block == BLOCK;
}

static bool takes_winograd(const struct plan *plan, const struct step *step)
{
    const struct view *weights = &step->operands[1];
    return cpu_is_dense_conv(plan, step) && weights->dim[2] == 3 && weights->dim[3] == 3 &&
           is_in_blocks(&step->operands[0]) && is_in_blocks(&step->results[0]);
}

static void list_winograd(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                          choice_list *list)
{
    struct listed_choice c = {.precision = PRECISION_INEXACT};
    snprintf(c.text, sizeof c.text, "%s", cpu_way_winograd.name);
    if (onednn_block_of_channels() == BLOCK)
        vec_push(list, c);
}

static void *prepare_winograd(const struct step_request *r)
{
    return prepare(r, ONEDNN_WINOGRAD);
}

static const struct cpu_kernel winograd_kernel = {
    .base = {.name = "conv"},
    .prepare = prepare_winograd,
    CPU_PRIMITIVE_WITH_WEIGHTS,
};
const struct cpu_way cpu_way_winograd = {"winograd", takes_winograd, list_winograd, &winograd_kernel};
