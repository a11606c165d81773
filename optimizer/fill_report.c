// What the report says of the job: what was imported, kept and measured, and the steps of both graphs.
#include "graph/graph_whole.h"
#include "optimizer/optimization.h"

#include "core/text/error.h"
#include <string.h>

static void list_uncompared(struct optimizing *o)
{
    const struct graph *g = &o->model.graph;
    for (size_t i = 0; o->report.verdict != CHECK_SKIPPED && i < o->model.outputs.count; i++) {
        const struct imported_value *output = &o->model.outputs.items[i];
        if (!tensor_has_values(g, output->tensor))
            vec_push(&o->report.uncompared, ((struct uncompared_output){output->name, graph_type(g, output->tensor)}));
    }
}

static void count_kept(struct report *r, const struct onnx_node *n, const char *reason)
{
    const char *domain = n->domain.size ? n->domain.text : "";
    for (size_t i = 0; i < r->kept.count; i++) {
        struct kept_operator *k = &r->kept.items[i];
        if (strcmp(k->domain, domain) == 0 && strcmp(k->name, n->op_type.text) == 0 && strcmp(k->reason, reason) == 0) {
            k->n_nodes++;
            return;
        }
    }
    vec_push(&r->kept, ((struct kept_operator){domain, n->op_type.text, reason, 1}));
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept_operator *x = a, *y = b;
    int by_name = strcmp(x->name, y->name), by_domain = strcmp(x->domain, y->domain);
    return x->n_nodes != y->n_nodes ? (x->n_nodes < y->n_nodes ? 1 : -1)
           : by_name                ? by_name
           : by_domain              ? by_domain
                                    : strcmp(x->reason, y->reason);
}

// Those that something still reads: of the arithmetic of shapes often nothing is left.
static void list_kept(struct optimizing *o)
{
    const struct graph *g = &o->model.graph;
    bool *is_live = arena_array(&o->arena, bool, g->nodes.count + 1);
    graph_mark_live(g, is_live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        if (!is_live[n] || g->nodes.items[n].op->id != OP_OPAQUE)
            continue;
        const struct imported_opaque *opaque = &o->model.opaques.items[g->nodes.items[n].attributes[0].ints[0]];
        count_kept(&o->report, o->file.model->graph->nodes.items[opaque->node], opaque->reason);
    }
    vec_sort(&o->report.kept, compare_kept);
}

static void add_measured(struct report *r, const struct coster *c)
{
    r->n_steps_measured += c->measured.n_steps;
    r->seconds_measuring += c->measured.seconds;
    r->processor_seconds_measuring += c->measured.processor_seconds;
}

// What cannot be planned has no kernels.
static void sum_errors(struct optimizing *o)
{
    const struct graph *graphs[2] = {&o->model.graph, &o->found.graph};
    o->report.allowed_error = o->backend->options.error_budget;
    for (int i = 0; o->report.allowed_error > 0 && i < 2; i++) {
        struct graph runnable;
        struct error ignored = {0};
        graph_cut(&runnable, graphs[i], graphs[1 - i], &o->cut);
        o->backend->policy = o->policies[i];
        o->backend->only_recalls = true;
        backend_error_budget(o->backend, &runnable, &o->report.errors[i], &ignored);
        o->backend->only_recalls = false;
        graph_free(&runnable);
    }
}

void optimizing_fill_report(struct optimizing *o)
{
    struct report *r = &o->report;
    r->input = o->options->input;
    r->output = o->options->output;
    r->device = o->backend->device;
    r->before = &o->model.graph;
    r->after = &o->found.graph;
    r->search = &o->found;
    r->rules = &o->rules;
    list_uncompared(o);
    r->import.folded = o->model.counts.folded;
    r->import.identities = o->model.counts.identities;
    r->import.normalizations = o->model.counts.normalizations;
    list_kept(o);
    add_measured(r, &o->backend->coster);
    sum_errors(o);
    if (o->step_costs)
        add_measured(r, o->step_costs);
    r->peak_memory = mem_peak_resident();
    phases_enter(&o->phases, o->phases.now);
    r->phases = &o->phases;
    for (int i = 0; i < N_PHASES; i++)
        r->seconds += o->phases.seconds[i];
}

// Without them the report says less; a graph that cannot be planned was not searched either.
void optimizing_describe_steps(struct optimizing *o)
{
    const struct graph *graphs[2] = {&o->model.graph, &o->found.graph};
    const struct graph_steps **told[2] = {&o->report.steps_before, &o->report.steps_after};
    for (int i = 0; i < 2; i++) {
        struct graph runnable;
        struct error error = {0};
        graph_cut(&runnable, graphs[i], graphs[1 - i], &o->cut);
        graph_steps_init(&o->steps[i]);
        o->backend->policy = o->policies[i];
        *told[i] = graph_steps_collect(&o->steps[i], o->backend, &runnable, &error) ? &o->steps[i] : NULL;
        graph_free(&runnable);
    }
}

void optimizing_free_steps(struct optimizing *o)
{
    for (int i = 0; i < 2; i++)
        graph_steps_free(&o->steps[i]);
}
