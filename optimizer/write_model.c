// What is written: the result, the original simplified, or the original, as an ONNX model or compiled.
#include "optimizer/write_model.h"

#include "graph/graph_whole.h"
#include "onnx/format/model_save.h"
#include "onnx/format/visit.h"
#include "optimizer/compilation.h"
#include "optimizer/optimization.h"

#include "backends/cpu/cpu.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "graph/evaluate.h"
#include "graph/extract.h"
#include "graph/undone_reshapes.h"
#include "onnx/format/schema.h"
#include "onnx/format/tensor.h"
#include "optimizer/simplification.h"

// --- constants -------------------------------------------------------------------------------------------------------

#define FLOPS_FOR_A_DEVICE 1e7   // what takes more is not for the reference

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
    struct graph alone;
    isolate_node(&alone, g, n);
    struct model *model = backend_prepare(b, &alone, 0, NULL, error);
    bool is_run = model != NULL;
    if (is_run) {
        model_allocate_outputs(model, ret_outputs, arena);
        is_run = model_run(model, inputs, ret_outputs, error);
        model_free(model);
    }
    graph_free(&alone);
    return is_run;
}

// Where the device runs nothing, the processor does.
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

// --- writing ---------------------------------------------------------------------------------------------------------

static bool add_bytes(void *context, void *tensor)
{
    size_t *sum = context, bytes;
    if (onnx_tensor_size(tensor, &bytes))
        *sum += bytes;
    return true;
}

// Of initializers and of constants that are nodes, those of subgraphs, too.
static size_t bytes_of_weights(struct onnx_model *model)
{
    size_t sum = 0;
    onnx_message_visit(&onnx_model_descriptor, model, &onnx_tensor_descriptor, add_bytes, &sum);
    return sum;
}

static void tell_of_fixed_inputs(const struct optimizing *o, const struct onnx_model *written)
{
    size_t n = o->file.model->graph->inputs.count - written->graph->inputs.count;
    if (n > 0)
        log_warning(o->options->log, "%s: %zu input%s with an initializer: what is written has constants there",
                    o->options->input, n, n == 1 ? "" : "s");
}

// What was made is read back before it takes its place; types are NULL of the original, which is copied.
static bool write_if_wanted(struct optimizing *o, struct onnx_model *model, struct exported_types *types)
{
    struct onnx_reader reader = {exported_types_are_read_back, types};
    tell_of_fixed_inputs(o, model);
    o->report.files[1] = model->graph;
    o->report.file_types[1] = types ? arena_copy_array(&o->model.arena, types, 1) : NULL;
    o->report.nodes_written = model->graph->nodes.count;
    o->report.bytes_written = bytes_of_weights(model);
    return !o->options->output ||
           onnx_model_write_checked(model, &o->file, o->options->output, 0, types ? &reader : NULL, o->error);
}

// That a constant cannot be computed, or is read back as another one, is only known when it is written.
static bool write_simplified(struct optimizing *o, struct onnx_model *simplified, struct exported_types *types)
{
    if (write_if_wanted(o, simplified, types))
        return true;
    o->report.is_simplified = false;
    if (o->error->code != EXIT_UNSUPPORTED)
        return false;
    o->report.not_simplified = arena_printf(&o->model.arena, "it cannot be written: %s", o->error->message);
    log_warning(o->options->log, "%s: simplified, %s", o->options->input, o->report.not_simplified);
    *o->error = (struct error){0};
    return write_if_wanted(o, o->file.model, NULL);
}

static bool write_original(struct optimizing *o)
{
    struct onnx_model *simplified;
    struct exported_types types;
    o->report.is_simplified = optimizing_simplify(o, &simplified, &types);
    return o->report.is_simplified ? write_simplified(o, simplified, &types) : write_if_wanted(o, o->file.model, NULL);
}

// What the model's operator set has no form for is no reason to leave the user without a model.
static bool write_original_instead(struct optimizing *o)
{
    if (o->error->code != EXIT_UNSUPPORTED)
        return false;
    o->report.kept_reason = arena_printf(&o->model.arena, "the result cannot be written: %s", o->error->message);
    o->report.is_optimized = false;
    *o->error = (struct error){0};
    return write_original(o);
}

// For nodes that rules made: rules that are not used any more have made none.
static void name_rules(struct optimizing *o)
{
    uint32_t n = 0;
    for (size_t i = 0; i < o->rules.rules.count; i++)
        n = o->rules.rules.items[i]->number >= n ? o->rules.rules.items[i]->number + 1 : n;
    const char **names = arena_array(&o->model.arena, const char *, n + 1);
    for (size_t i = 0; i < o->rules.rules.count; i++)
        names[o->rules.rules.items[i]->number] = o->rules.rules.items[i]->name;
    o->model.rule_names = names;
    o->model.n_rule_names = n;
}

// Which sizes are the same is known of those that are no symbols.
static const struct graph *without_undone_reshapes(struct optimizing *o, const struct graph *g)
{
    struct graph *written = arena_new(&o->arena, struct graph);
    if (o->model.symbols.count > 0 || !graph_leave_out_undone_reshapes(written, g))
        return g;
    vec_push(&o->written, written);
    return written;
}

void optimizing_free_written(struct optimizing *o)
{
    for (size_t i = 0; i < o->written.count; i++)
        graph_free(o->written.items[i]);
    vec_free(&o->written);
}

bool optimizing_export(struct optimizing *o, const struct graph *g, struct onnx_model **ret_model,
                       struct exported_types *ret_types, struct error *error)
{
    o->model.run_node = run_node;
    o->model.run_context = o;
    name_rules(o);
    return export_model(&o->model, without_undone_reshapes(o, g), ret_model, ret_types, error);
}

static bool compile_model(struct optimizing *o)
{
    bool is_optimized = o->report.is_optimized;
    o->report.is_compiled = true;
    return optimizing_compile(o, is_optimized ? &o->found.graph : &o->model.graph, o->policies[is_optimized]);
}

bool optimizing_write(struct optimizing *o)
{
    struct onnx_model *optimized;
    struct exported_types types;
    phases_enter(&o->phases, PHASE_WRITING);
    o->report.nodes_in_file = o->file.model->graph->nodes.count;
    o->report.bytes_in_file = bytes_of_weights(o->file.model);
    if (optimizing_compiles(o->options))
        return compile_model(o);
    if (!o->report.is_optimized)
        return write_original(o);
    if (!optimizing_export(o, &o->found.graph, &optimized, &types, o->error))
        return write_original_instead(o);
    return write_if_wanted(o, optimized, &types) || write_original_instead(o);
}
