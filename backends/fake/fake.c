#include "backends/fake/fake.h"

#include "core/arena.h"
#include "core/error.h"
#include <string.h>

struct fake_backend {
    struct backend base;
    struct fake_device device;
};

// --- planning: matrix products and convolutions take any epilogue ----------------------------------------------------

static bool accepts_any(const struct planner *p, const struct step *step, const struct loop *epilogue)
{
    return true;
}

static const struct kernel kernel_loops = {.name = "loops"}, kernel_evaluate = {.name = "evaluate"},
                           kernel_anchor = {.name = "anchor", .accepts_epilogue = accepts_any};

static bool claim_anchor(void *context, struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    if (n->op != operators[OP_MATMUL] && n->op != operators[OP_CONV])
        return false;
    enum layout layout = LAYOUT_ROWS;
    struct view operands[2] = {planner_view(p, graph_inputs(g, node)[0], LAYOUT_ANY),
                               planner_view(p, graph_inputs(g, node)[1], LAYOUT_ANY)};
    struct view result = planner_allocate(p, graph_type(g, n->first_output), layout);
    planner_add_step(p, &kernel_anchor, node, 2, operands, 1, &result);
    return true;
}

// --- costs -----------------------------------------------------------------------------------------------------------

static double distinct_bytes(const struct view *v)
{
    double bytes = (double)dtype_size(v->dtype);
    for (int i = 0; i < v->rank; i++)
        if (v->stride[i] != 0)
            bytes *= (double)v->dim[i];
    return bytes;
}

static double bytes_of_access(const struct loop *loop, const struct loop_access *access, int rank)
{
    double bytes = (double)dtype_size(access->dtype);
    for (int i = 0; i < rank; i++)
        if (access->stride[i] != 0)
            bytes *= (double)loop->dim[i];
    return bytes;
}

static void add_loop(const struct loop *loop, bool is_epilogue, double *flops, double *bytes)
{
    double places = 1;
    int rank = loop->rank + loop->n_reduced;
    for (int i = 0; i < rank; i++)
        places *= (double)loop->dim[i];
    for (int i = 0; i < loop->n_instructions; i++)
        if (loop->instructions[i].kind != INSTRUCTION_CONSTANT)
            *flops += places;
    for (int i = is_epilogue; i < loop->n_operands; i++)
        *bytes += bytes_of_access(loop, &loop->operands[i], rank);
    for (int i = 0; !is_epilogue && i < loop->n_results; i++)
        *bytes += bytes_of_access(loop, &loop->results[i].to, loop->rank);
}

static double flops_of_node(const struct plan *plan, node_id node)
{
    struct arena scratch;
    struct definition d;
    arena_init(&scratch);
    double flops = graph_define(plan->graph, node, &d, &scratch) ? definition_flops(&d) : 0;
    definition_free(&d);
    arena_free(&scratch);
    return flops;
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                    struct error *error)
{
    const struct fake_device *device = &((struct fake_backend *)b)->device;
    bool is_anchor = step->kernel != &kernel_loops;
    double flops = is_anchor ? flops_of_node(plan, step->node) : 0, bytes = 0;
    for (int i = 0; i < step->n_operands; i++)
        bytes += distinct_bytes(&step->operands[i]);
    for (int i = 0; i < step->n_results; i++)
        bytes += distinct_bytes(&step->results[i]);
    for (int i = 0; i < step->n_loops; i++)
        add_loop(&step->loops[i], is_anchor, &flops, &bytes);
    double computing = flops / device->flops_per_second, moving = bytes / device->bytes_per_second;
    *ret_cost = (struct step_cost){device->seconds_per_launch + (computing > moving ? computing : moving), 0, false};
    return true;
}

// --- the device ------------------------------------------------------------------------------------------------------

static struct model *refuse_to_prepare(struct backend *b, const struct graph *g, size_t n_weights,
                                       const struct tensor_value *weights, struct error *error)
{
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "the fake device cannot run models");
    return NULL;
}

static void close_fake(struct backend *b)
{
    backend_finish(b);
    mem_free(b, sizeof(struct fake_backend));
}

static const struct backend_methods methods = {
    .name = "fake",
    .measure = measure,
    .prepare = refuse_to_prepare,
    .close = close_fake,
};

struct backend *fake_backend_open(const struct fake_device *device, struct error *error)
{
    static const struct fake_device standard = {1e-5, 1e11, 1e10};
    static const struct plan_target target = {
        .loops = &kernel_loops, .evaluate = &kernel_evaluate, .claim = claim_anchor};
    struct fake_backend *b = mem_alloc_zero(sizeof *b);
    b->device = device->flops_per_second > 0 ? *device : standard;
    struct backend_options options = {.cost_file = ""};
    if (!backend_init(&b->base, &methods, &target, &options, "fake", error)) {
        mem_free(b, sizeof *b);
        return NULL;
    }
    return &b->base;
}
