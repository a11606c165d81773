// A device without hardware: seconds are computed from bytes, operations and layouts, the same on every machine.
#include "backends/fake/fake.h"

#include "backends/backend.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/hash.h"
#include "core/memory/vec.h"
#include "core/numbers/random.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"

struct fake_backend {
    struct backend base;
    struct fake_device device;
    struct layout_support layouts;
    struct words words;   // of the step whose cost is scattered
};

// --- planning: matrix products and convolutions take any epilogue ----------------------------------------------------

static bool accepts_any(const struct planner *p, const struct step *step, const struct loop *epilogue)
{
    return true;
}

static const struct kernel kernel_loops = {.name = "loops"}, kernel_evaluate = {.name = "evaluate"},
                           kernel_anchor = {.name = "anchor", .accepts_epilogue = accepts_any};

static bool writes_any_part(void *context, const struct planner *p, node_id node, const struct view *part)
{
    return true;
}

static bool claim_anchor(void *context, struct planner *p, node_id node)
{
    const struct fake_backend *b = context;
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    if (n->op == operators[OP_CONCAT] && b->device.has_parts)
        return planner_claim_concat(p, node, LAYOUT_ROWS, false);
    if (!operator_has(n->op, TRAIT_CONTRACTS))
        return false;
    enum layout layout = planner_choose(p, n->first_output, 0, LAYOUT_ROWS);
    struct view operands[2] = {planner_view(p, graph_inputs(g, node)[0], LAYOUT_ANY),
                               planner_view(p, graph_inputs(g, node)[1], LAYOUT_ANY)};
    struct view result = planner_allocate_chosen(p, n->first_output, graph_type(g, n->first_output), layout);
    planner_add_step(p, &kernel_anchor, node, 2, operands, 1, &result);
    return true;
}

// Images are read in the layout in which the result is written, where they can be; matrices as they stand.
static bool claim_with_layouts(void *context, struct planner *p, node_id node)
{
    const struct fake_backend *b = context;
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const struct type *type = graph_type(g, n->first_output);
    bool is_image = n->op == operators[OP_CONV] || n->op == operators[OP_POOLMAX];
    struct view operands[2];
    if (n->op == operators[OP_CONCAT] && b->device.has_parts)
        return planner_claim_concat(p, node, LAYOUT_CHANNELS_LAST, false);
    if (!is_image && n->op != operators[OP_MATMUL])
        return false;
    enum layout layout =
        planner_choose(p, n->first_output, planner_layouts(p, node), is_image ? LAYOUT_CHANNELS_LAST : LAYOUT_ROWS);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        tensor_id t = graph_inputs(g, node)[i];
        bool suits = i == 0 && layout_suits(layout, graph_type(g, t));
        operands[i] = suits && is_image && b->device.has_parts ? planner_dense_or_part(p, t, layout)
                      : is_image                               ? planner_dense(p, t, suits ? layout : LAYOUT_ROWS)
                                                               : planner_view(p, t, LAYOUT_ANY);
        if (!is_image && operands[i].block)
            operands[i] = planner_dense_instead(p, t, LAYOUT_CHANNELS_LAST);
    }
    struct view result = planner_allocate_chosen(p, n->first_output, type, layout);
    planner_add_step(p, &kernel_anchor, node, (int)n->n_inputs, operands, 1, &result);
    return true;
}

// --- costs -----------------------------------------------------------------------------------------------------------

static double flops_of_loop(const struct loop *loop)
{
    return loop_places(loop) *
           (double)COUNT(int, i, loop->n_instructions, loop->instructions[i].kind != INSTRUCTION_CONSTANT);
}

static double scattered(struct fake_backend *b, const struct plan *plan, const struct step *step, double seconds)
{
    if (b->device.scatter == 0)
        return seconds;
    step_encode(plan, step, &b->words);
    uint64_t hash = hash_bytes(b->words.list.items, b->words.list.count * sizeof(int64_t), b->device.scatter);
    struct random random = random_seed(hash);
    return seconds * (0.5 + 1.5 * random_unit(&random));
}

static bool reads_image_in_rows(const struct plan *plan, const struct step *step)
{
    return step->node != NO_NODE && plan->graph->nodes.items[step->node].op != operators[OP_MATMUL] &&
           step->n_operands > 0 && step->operands[0].rank == 4 && view_has_layout(&step->operands[0], LAYOUT_ROWS);
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    double best, struct step_cost *ret_cost, struct error *error)
{
    const struct fake_device *device = &((struct fake_backend *)b)->device;
    bool is_anchor = step->kernel != &kernel_loops;
    double flops = is_anchor ? graph_node_flops(plan->graph, step->node) : 0;
    double bytes = step_distinct_bytes(step, is_anchor);
    for (int i = 0; i < step->n_loops; i++)
        flops += flops_of_loop(&step->loops[i]);
    if (is_anchor && device->of_rows > 0 && reads_image_in_rows(plan, step)) {
        flops *= device->of_rows;
        bytes *= device->of_rows;
    }
    double computing = flops / device->flops_per_second, moving = bytes / device->bytes_per_second;
    double seconds = device->seconds_per_launch + (computing > moving ? computing : moving);
    *ret_cost = (struct step_cost){.seconds = scattered((struct fake_backend *)b, plan, step, seconds), .spread = 0};
    return true;
}

// --- the device ------------------------------------------------------------------------------------------------------

static void close_fake(struct backend *b)
{
    vec_free(&((struct fake_backend *)b)->words.list);
    backend_finish(b);
    mem_free(b, sizeof(struct fake_backend));
}

static const struct backend_methods methods = {
    .name = "fake",
    .has_exact_costs = true,
    .measure = measure,
    .close = close_fake,
};

struct backend *fake_backend_open(const struct fake_device *device, struct error *error)
{
    static const unsigned images = LAYOUT_BIT(LAYOUT_CHANNELS_LAST) | LAYOUT_BIT(LAYOUT_BLOCKS_OF_8);
    static const unsigned matrices = LAYOUT_BIT(LAYOUT_COLUMNS) | LAYOUT_BIT(LAYOUT_MIDDLE_SWAPPED);
    struct fake_backend *b = mem_alloc_zero(sizeof *b);
    struct plan_target target = {
        .loops = &kernel_loops, .evaluate = &kernel_evaluate, .claim = claim_anchor, .context = b};
    b->device = *device;
    if (device->flops_per_second <= 0) {
        b->device.seconds_per_launch = 1e-5;
        b->device.flops_per_second = 1e11;
        b->device.bytes_per_second = 1e10;
    }
    b->layouts = (struct layout_support){
        .of_operator = {[OP_CONV] = images, [OP_POOLMAX] = images, [OP_MATMUL] = matrices},
        .of_loops_on_images = images,
        .of_loops_on_matrices = LAYOUT_BIT(LAYOUT_COLUMNS),
        .least_share = device->least_share,
    };
    if (device->has_parts)
        target.writes_part = writes_any_part;
    if (device->has_layouts) {
        target.claim = claim_with_layouts;
        target.layouts = &b->layouts;
    }
    struct backend_options options = {.cost_file = ""};
    if (!backend_init(&b->base, &methods, &target, &options, "fake", error)) {
        mem_free(b, sizeof *b);
        return NULL;
    }
    return &b->base;
}
