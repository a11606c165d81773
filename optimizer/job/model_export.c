// A graph as an ONNX model: constants are computed when they are asked for, large ones on the device.
#include "optimizer/job/model_export.h"

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "graph/evaluate.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "graph/undone_reshapes.h"
#include "optimizer/limits.def"

// --- constants -------------------------------------------------------------------------------------------------------

static tensor_id add_input(void *context, tensor_id t)
{
    const struct graph_extraction *x = context;
    return graph_add_leaf(x->to, operators[OP_INPUT], (int64_t)x->to->nodes.count, graph_type(x->from, t));
}

// The node alone, with its inputs as inputs of the graph.
static void isolate_node(struct graph *ret_graph, const struct graph *g, node_id n)
{
    struct graph_extraction x = {.from = g, .to = ret_graph, .context = &x, .find = add_input};
    graph_init(ret_graph, g->arena);
    node_id copy = graph_extract_node(&x, n, false);
    for (uint32_t i = 0; i < g->nodes.items[n].n_outputs; i++)
        graph_add_output(ret_graph, graph_output_of(ret_graph, copy, i));
}

static bool run_on_device(struct backend *b, const struct graph *g, node_id n, const struct tensor_value *inputs,
                          struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    struct graph alone FREED_BY(graph_free);
    isolate_node(&alone, g, n);
    struct model *model = backend_prepare(b, &alone, 0, NULL, error);
    bool is_run = model != NULL;
    if (is_run) {
        model_allocate_outputs(model, ret_outputs, arena);
        is_run = model_run(model, inputs, ret_outputs, error);
        model_free(model);
    }
    return is_run;
}

// The processor runs nodes where the device runs nothing.
static bool run_on_processor(struct optimizing *o, const struct graph *g, node_id n, const struct tensor_value *inputs,
                             struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    struct backend_options chosen = optimizing_backend_options(o);
    chosen.cost_file = "";
    struct backend *processor = cpu_backend_open(&chosen, error);
    bool is_run = processor && run_on_device(processor, g, n, inputs, ret_outputs, arena, error);
    backend_close(processor);
    return is_run;
}

static bool run_node(void *context, const struct graph *g, node_id n, const struct tensor_value *inputs,
                     struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    struct optimizing *o = context;
    bool is_small = graph_node_flops(g, n) < FLOPS_FOR_A_DEVICE;
    if (!is_small && !backend_can_run(o->checker) && interrupt_requested())
        return error_set_code(error, EXIT_UNSUPPORTED, o->options->input, "interrupted");
    if (is_small)
        return graph_evaluate_node(g, n, inputs, ret_outputs, arena, error);
    return backend_can_run(o->checker) ? run_on_device(o->checker, g, n, inputs, ret_outputs, arena, error)
                                       : run_on_processor(o, g, n, inputs, ret_outputs, arena, error);
}

// --- exporting -------------------------------------------------------------------------------------------------------

// Names of rules for nodes that they made: rules that are not used any more have made none.
static void name_rules(struct optimizing *o)
{
    uint32_t n = 0;
    for (size_t i = 0; i < o->rules.set.rules.count; i++)
        n = o->rules.set.rules.items[i]->number >= n ? o->rules.set.rules.items[i]->number + 1 : n;
    const char **names = arena_array(&o->model.arena, const char *, n + 1);
    for (size_t i = 0; i < o->rules.set.rules.count; i++)
        names[o->rules.set.rules.items[i]->number] = o->rules.set.rules.items[i]->name;
    o->model.rule_names = names;
    o->model.n_rule_names = n;
}

// Which sizes are the same is known of those that are no symbols.
static const struct graph *without_undone_reshapes(struct optimizing *o, const struct graph *g)
{
    struct graph *written = arena_new(&o->arena, struct graph);
    if (o->model.symbols.list.count > 0 || !graph_leave_out_undone_reshapes(written, g))
        return g;
    vec_push(&o->results.written, written);
    return written;
}

void optimizing_free_written(struct optimizing *o)
{
    for (size_t i = 0; i < o->results.written.count; i++)
        graph_free(o->results.written.items[i]);
    vec_free(&o->results.written);
}

bool optimizing_export(struct optimizing *o, const struct graph *g, struct onnx_model **ret_model,
                       struct exported_types *ret_types, struct error *error)
{
    o->model.runner.run = run_node;
    o->model.runner.context = o;
    name_rules(o);
    return export_model(&o->model, without_undone_reshapes(o, g), ret_model, ret_types, error);
}
