// Runs both models on a device, opaque nodes paired, and compares their outputs.
#include "compare/numbers.h"

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/extract.h"
#include "optimizer/run/comparison.h"
#include "optimizer/run/runnable.h"
#include <math.h>

// --- opaque nodes ----------------------------------------------------------------------------------------------------
// Each gets a number; a node of the first model and its partner in the second have the same.

struct pairing {
    const struct common_graph *c;
    int64_t *numbers;   // of every node: -1 while there is none
    int64_t n_numbers;
};

static bool is_opaque_of(const struct common_graph *c, int side, node_id n)
{
    return c->sides[side].is_live[n] && (c->graph.nodes.items[n].op->flags & OPERATOR_IS_OPAQUE);
}

static bool are_congruent(const struct pairing *p, node_id a, node_id b)
{
    const struct node *x = &p->c->graph.nodes.items[a], *y = &p->c->graph.nodes.items[b];
    return x->n_outputs > 0 && common_tensors_are_equal(p->c, x->first_output, y->first_output);
}

static bool are_of_one_kind(const struct pairing *p, node_id a, node_id b)
{
    const struct node *x = &p->c->graph.nodes.items[a], *y = &p->c->graph.nodes.items[b];
    return x->attributes[0].ints[0] == y->attributes[0].ints[0];
}

static node_id find_partner(const struct pairing *p, node_id a, bool (*fits)(const struct pairing *, node_id, node_id))
{
    for (node_id b = 0; b < p->c->n_nodes; b++)
        if (p->numbers[b] < 0 && is_opaque_of(p->c, 1, b) && !is_opaque_of(p->c, 0, b) && fits(p, a, b))
            return b;
    return NO_NODE;
}

static void pair_with(struct pairing *p, bool (*fits)(const struct pairing *, node_id, node_id))
{
    for (node_id a = 0; a < p->c->n_nodes; a++) {
        node_id b = p->numbers[a] < 0 && is_opaque_of(p->c, 0, a) ? find_partner(p, a, fits) : NO_NODE;
        if (b != NO_NODE)
            p->numbers[a] = p->numbers[b] = p->n_numbers++;
    }
}

// False: a node has no partner.
static bool pair_opaque_nodes(struct pairing *p)
{
    for (node_id n = 0; n < p->c->n_nodes; n++)
        p->numbers[n] = is_opaque_of(p->c, 0, n) && is_opaque_of(p->c, 1, n) ? p->n_numbers++ : -1;
    pair_with(p, are_congruent);
    pair_with(p, are_of_one_kind);
    return !ANY(node_id, n, p->c->n_nodes, p->numbers[n] < 0 && (is_opaque_of(p->c, 0, n) || is_opaque_of(p->c, 1, n)));
}

// --- graphs to run ---------------------------------------------------------------------------------------------------

struct running {
    struct common_graph *c;
    const struct numbers_options *options;
    struct numbers_report *report;
    struct arena arena;   // of graphs and values
    struct graph whole[2], graphs[2];
    struct cut_plan cut;
    struct backend *backend;
    struct tensor_value *weights;
    struct recording outputs[2];
    struct error *error;
};

struct taking_side {
    struct graph_extraction taken;
    const int64_t *numbers;   // of opaque nodes
};

static node_id add_numbered(void *context, node_id n, const tensor_id *inputs)
{
    const struct taking_side *s = context;
    const struct graph *g = s->taken.from;
    const struct node *node = &g->nodes.items[n];
    if (!(node->op->flags & OPERATOR_IS_OPAQUE))
        return graph_add_copy(s->taken.to, g, n, inputs);
    struct type *types = arena_array(s->taken.to->arena, struct type, node->n_outputs + 1);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        types[i] = *graph_type(g, node->first_output + i);
    return graph_add_opaque(s->taken.to, s->numbers[n], node->n_inputs, inputs, node->n_outputs, types);
}

static void make_graph(struct running *x, int side, const int64_t *numbers)
{
    const struct common_side *s = &x->c->sides[side];
    struct taking_side t = {.numbers = numbers};
    t.taken = (struct graph_extraction){.from = &x->c->graph,
                                        .to = &x->whole[side],
                                        .context = &t,
                                        .moved = arena_array(&x->arena, tensor_id, x->c->graph.tensors.count + 1),
                                        .add = add_numbered};
    graph_init(t.taken.to, &x->arena);
    graph_extraction_clear(&t.taken);
    for (node_id n = 0; n < x->c->n_nodes; n++)
        if (s->is_live[n])
            graph_extract_node(&t.taken, n, false);
    for (size_t i = 0; i < x->c->n_outputs; i++)
        graph_add_output(t.taken.to, t.taken.moved[s->outputs[i]]);
}

static bool has_known_inputs(const struct graph *g)
{
    vec_each(&g->nodes, node) {
        const struct type *t = node->n_outputs ? graph_type(g, node->first_output) : NULL;
        if (node->op->id == OP_INPUT && (!type_is_known(t) || !dtype_has_numbers(t->dtype)))
            return false;
    }
    return true;
}

static const char *reason_not_to_run(const struct running *x)
{
    if (!has_known_inputs(&x->whole[0]) || !has_known_inputs(&x->whole[1]))
        return "the type of an input is not known: --shape gives it";
    if (!graphs_have_equal_outputs(&x->graphs[0], &x->graphs[1]))
        return "nodes that are kept as they are read tensors of different types";
    return x->graphs[0].outputs.count ? NULL : "there is no output of known type";
}

// --- running ---------------------------------------------------------------------------------------------------------

// The sides run one after the other: each holds a packed copy of its weights.
static bool run_side(struct running *x, int side)
{
    struct model *m = backend_prepare(x->backend, &x->graphs[side], x->c->weights.count, x->weights, x->error);
    bool is_run = m && model_record(m, &x->graphs[side], x->cut.n_inputs, &(struct model_inputs){0}, x->options->seed,
                                    0, x->options->rounds, &x->arena, &x->outputs[side], x->error);
    if (m)
        model_free(m);
    return is_run;
}

// --- comparing -------------------------------------------------------------------------------------------------------

static void compare_outputs(struct running *x)
{
    LOCAL_LIST(output_comparisons, found);
    size_t output = 0;
    recordings_compare(&x->outputs[0], &x->outputs[1], false, x->report->tolerance, &found);
    for (size_t i = 0; i < found.count; i++, output++) {
        while (output < x->c->n_outputs && !tensor_has_values(&x->c->graph, x->c->sides[0].outputs[output]))
            output++;
        bool is_of_model = output < x->c->n_outputs;
        struct numbers_result r = {is_of_model ? output : x->c->n_outputs, found.items[i]};
        r.of.name = is_of_model ? common_graph_output_name(x->c, output) : "what a node that is kept as it is reads";
        vec_push(&x->report->results, r);
    }
}

static void collect_weights(struct running *x)
{
    x->weights = arena_array(&x->arena, struct tensor_value, x->c->weights.count + 1);
    for (size_t i = 0; i < x->c->weights.count; i++)
        x->weights[i] = x->c->weights.items[i].value;
}

static bool run_both(struct running *x)
{
    const struct backend_options options = {
        .threads = x->options->threads, .cost_file = "", .never_measures = true, .log = x->options->log};
    x->report->tolerance = comparison_tolerance(&x->graphs[0], false, x->options->tolerance);
    collect_weights(x);
    x->backend = cpu_backend_open(&options, x->error);
    bool is_run = x->backend && run_side(x, 0) && run_side(x, 1);
    if (is_run)
        compare_outputs(x);
    backend_close(x->backend);
    return is_run;
}

static bool cut_and_run(struct running *x, const int64_t *numbers)
{
    for (int side = 0; side < 2; side++)
        make_graph(x, side, numbers);
    cut_plan_init(&x->cut, &x->whole[0], (uint32_t)x->c->n_inputs);
    for (int side = 0; side < 2; side++)
        graph_cut(&x->graphs[side], &x->whole[side], &x->whole[1 - side], &x->cut);
    x->report->reason = reason_not_to_run(x);
    bool is_fine = x->report->reason || run_both(x);
    cut_plan_free(&x->cut);
    for (int side = 0; side < 2; side++) {
        graph_free(&x->graphs[side]);
        graph_free(&x->whole[side]);
    }
    return is_fine;
}

bool common_graph_compare_in_numbers(struct common_graph *c, const struct numbers_options *options,
                                     struct numbers_report *ret_report, struct error *error)
{
    struct running x = {.c = c, .options = options, .report = ret_report, .error = error};
    struct pairing p = {.c = c, .numbers = mem_new_array(int64_t, c->n_nodes + 1)};
    bool is_fine = true;
    *ret_report = (struct numbers_report){.tolerance = options->tolerance};
    if (pair_opaque_nodes(&p))
        is_fine = cut_and_run(&x, p.numbers);
    else
        ret_report->reason = "the models keep different nodes as they are";
    mem_free_array(p.numbers, c->n_nodes + 1);
    arena_free(&x.arena);
    return is_fine;
}

void numbers_report_free(struct numbers_report *report)
{
    vec_free(&report->results);
}
