// The report's facts of the job, as they become known.
#include "optimizer/optimize/fill_report.h"

#include "graph/graph_whole.h"

#include "core/system/cores.h"
#include "core/text/error.h"
#include "onnx/convert/export/read_back.h"
#include <stdlib.h>
#include <string.h>

static void list_uncompared(struct optimizing *o)
{
    const struct graph *g = &o->model.graph;
    for (size_t i = 0; o->report.check.verdict != CHECK_SKIPPED && i < o->model.outputs.count; i++) {
        const struct imported_value *output = &o->model.outputs.items[i];
        if (!tensor_has_values(g, output->tensor))
            vec_push(&o->report.check.uncompared,
                     ((struct uncompared_output){output->name, graph_type(g, output->tensor)}));
    }
}

static void count_kept(struct report *r, const struct onnx_node *n, const char *reason)
{
    const char *domain = n->domain.size ? n->domain.text : "";
    vec_each(&r->kept, k) {
        if (strcmp(k->domain, domain) == 0 && strcmp(k->name, n->op_type.text) == 0 && strcmp(k->reason, reason) == 0) {
            k->n_nodes++;
            return;
        }
    }
    vec_push(&r->kept, ((struct kept_operator){domain, n->op_type.text, reason, 1}));
}

COMPARISON(compare_kept, struct kept_operator,
           ORDER(y->n_nodes, x->n_nodes) ?: strcmp(x->name, y->name) ?: strcmp(x->domain, y->domain) ?:
           strcmp(x->reason, y->reason))

// Inputs are kept that something still reads: of the arithmetic of shapes often nothing is left.
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
    r->costs.n_steps_measured += c->measured.n_steps;
    r->costs.seconds_measuring += c->measured.seconds;
    r->costs.processor_seconds_measuring += c->measured.processor_seconds;
}

// A graph that cannot be planned has no kernels.
static void count_inexact(struct optimizing *o)
{
    const struct graph *graphs[2] = {&o->model.graph, &o->results.found.graph};
    o->report.costs.allowed_error = o->backend->options.error_budget;
    for (int i = 0; o->report.costs.allowed_error > 0 && i < 2; i++) {
        struct graph runnable FREED_BY(graph_free);
        struct error ignored = {0};
        graph_cut(&runnable, graphs[i], graphs[1 - i], &o->inputs.cut);
        o->backend->policy = o->results.policies[i];
        o->backend->measuring.only_recalls = true;
        backend_inexact_steps(o->backend, &runnable, &o->report.costs.inexact[i], &ignored);
        o->backend->measuring.only_recalls = false;
    }
}

COMPARISON(compare_types, struct node_type, strcmp(x->name, y->name))

// Runs of equal names become one.
static struct node_types count_types(const struct onnx_graph *g, struct arena *arena)
{
    struct node_types types = {0, arena_array(arena, struct node_type, g->nodes.count + 1)};
    size_t n = 0;
    for (size_t i = 0; i < g->nodes.count; i++)
        types.items[i] = (struct node_type){((const struct onnx_node *)g->nodes.items[i])->op_type.text, 1};
    qsort(types.items, g->nodes.count, sizeof *types.items, compare_types);
    for (size_t i = 0; i < g->nodes.count; i++)
        if (n > 0 && strcmp(types.items[n - 1].name, types.items[i].name) == 0)
            types.items[n - 1].n++;
        else
            types.items[n++] = types.items[i];
    types.count = n;
    return types;
}

static void tell_of_files(struct optimizing *o)
{
    struct report *r = &o->report;
    r->written.files[0] = o->file.model->graph;
    for (int i = 0; i < 2; i++)
        if (r->written.files[i])
            r->written.types[i] = count_types(r->written.files[i], &o->model.arena);
}

void optimizing_fill_report(struct optimizing *o)
{
    struct report *r = &o->report;
    r->job.input = o->options->input;
    r->job.output = o->options->output;
    r->job.device = o->backend->device;
    r->job.n_threads = r->timing.is_on_one_thread ? 1
                       : o->options->threads > 0  ? (int)o->options->threads
                                                  : cores_available();
    r->job.is_on_gpu = o->options->device == DEVICE_CUDA;
    r->job.is_computed = o->options->device == DEVICE_FAKE;
    tell_of_files(o);
    r->found.search = &o->results.found;
    r->found.rules = &o->rules.set;
    r->check.failed_rules = o->rules.left_out.items;
    r->check.n_failed_rules = o->rules.left_out.count;
    list_uncompared(o);
    r->import = o->model.counts;
    list_kept(o);
    add_measured(r, &o->backend->coster);
    count_inexact(o);
    if (o->search.step_costs)
        add_measured(r, o->search.step_costs);
    r->peak_memory = mem_peak_resident();
    phases_enter(&o->time.phases, o->time.phases.now);
    r->phases = &o->time.phases;
    for (int i = 0; i < N_PHASES; i++)
        r->seconds += o->time.phases.seconds[i];
}

static void add_type(struct exported_types *types, const char *name, tensor_id t)
{
    const struct graph *g = &types->model->graph;
    if (t != NO_TENSOR)
        types->items[types->count++] = (struct exported_type){name, *graph_type(g, t), g->tensors.items[t].value};
}

// Values of the original that a node reads or that are outputs: nobody asks for the types of others.
static const struct exported_types *types_of_original(struct optimizing *o)
{
    const struct imported_model *m = &o->model;
    const struct onnx_graph *g = o->file.model->graph;
    size_t most = m->inputs.count + m->outputs.count;
    for (size_t i = 0; i < g->nodes.count; i++)
        most += ((const struct onnx_node *)g->nodes.items[i])->inputs.count;
    struct exported_types *types = arena_new(&o->model.arena, struct exported_types);
    *types = (struct exported_types){m, 0, arena_array(&o->model.arena, struct exported_type, most + 1)};
    for (size_t i = 0; i < m->inputs.count; i++)
        add_type(types, m->inputs.items[i].name, m->inputs.items[i].tensor);
    for (size_t i = 0; i < m->outputs.count; i++)
        add_type(types, m->outputs.items[i].name, m->outputs.items[i].tensor);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct onnx_node *n = g->nodes.items[i];
        for (size_t j = 0; m->origins.node_inputs[i] && j < n->inputs.count; j++)   // NULL: no output depends on it
            if (n->inputs.items[j].size)
                add_type(types, n->inputs.items[j].text, m->origins.node_inputs[i][j]);
    }
    return types;
}

// Steps are those of our own executor, and nothing is said of them where models run in another. Without them the report
// says less; a graph that cannot be planned was not searched either.
void optimizing_describe(struct optimizing *o)
{
    const struct graph *graphs[2] = {&o->model.graph, &o->results.found.graph};
    o->report.written.file_types[0] = types_of_original(o);
    if (!o->report.written.file_types[1])
        o->report.written.file_types[1] = o->report.written.file_types[0];
    for (int i = 0; i < 2 && !o->search.step_costs; i++) {
        struct graph runnable FREED_BY(graph_free);
        struct error error = {0};
        graph_cut(&runnable, graphs[i], graphs[1 - i], &o->inputs.cut);
        o->results.steps[i] = (struct graph_steps){0};
        o->backend->policy = o->results.policies[i];
        o->report.written.steps[i] =
            graph_steps_collect(&o->results.steps[i], o->backend, &runnable, &error) ? &o->results.steps[i] : NULL;
    }
}

void optimizing_free_steps(struct optimizing *o)
{
    for (int i = 0; i < 2; i++)
        graph_steps_free(&o->results.steps[i]);
}
