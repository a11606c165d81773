// Models that cannot be compiled are refused before anything is searched, and so is a name that ends otherwise.
#include "optimizer/optimize/compilation.h"

#include "backends/backend.h"
#include "optimizer/compiled/compile.h"

#include "core/system/file.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "optimizer/compiled/compiled_model.h"
#include "optimizer/run/model_weights.h"
#include "optimizer/run/prepare_within.h"
#include <string.h>
#include <strings.h>

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), length = strlen(ending);
    return n >= length && strcasecmp(path + n - length, ending) == 0;
}

bool optimizing_compiles(const struct optimize_options *options)
{
    return options->output && ends_in(options->output, ".taso");
}

// ONNX is written to what has no ending: devices and pipes.
bool optimizing_check_ending(const struct optimize_options *options, struct error *error)
{
    const char *output = options->output;
    if (!output || ends_in(output, ".onnx") || ends_in(output, ".taso") || !file_can_be_replaced(output))
        return true;
    return error_set_code(error, EXIT_USAGE, output,
                          "ends neither in .onnx nor in .taso, so nothing says what is to be written there");
}

bool optimizing_check_compilation(const struct optimize_options *options, struct error *error)
{
    if (!optimizing_compiles(options))
        return true;
    if (options->measure_command || (options->runtime && strcmp(options->runtime, "taso") != 0))
        return error_set_code(error, EXIT_USAGE, options->output,
                              "a compiled model runs in no other runtime: --runtime and --measure-command are for ONNX "
                              "models");
    if (options->device == DEVICE_FAKE)
        return error_set_code(error, EXIT_USAGE, options->output, "--device fake prepares no models to compile");
    return true;
}

static bool refuse_to_compile(const struct optimizing *o, const char *what, const char *name, const char *why)
{
    return error_set_code(o->error, EXIT_UNSUPPORTED, o->options->input, "cannot be compiled: %s %s %s", what, name,
                          why);
}

static bool can_be_given(const struct optimizing *o, const char *what, const struct imported_value *value)
{
    const struct type *type = graph_type(&o->model.graph, value->tensor);
    if (!type_is_known(type))
        return refuse_to_compile(o, what, value->name, "has a size that is not known; --shape gives it");
    return dtype_has_numbers(type->dtype) ||
           refuse_to_compile(o, what, value->name, "has elements that are no numbers");
}

bool optimizing_can_compile(struct optimizing *o)
{
    const struct imported_model *m = &o->model;
    if (!optimizing_compiles(o->options))
        return true;
    if (!backend_can_run(o->backend))
        return error_set_code(o->error, EXIT_UNSUPPORTED, o->options->output,
                              "models are compiled where they run, and %s is not here", o->backend->device);
    for (size_t i = 0; i < m->inputs.count; i++)
        if (!can_be_given(o, "input", &m->inputs.items[i]))
            return false;
    if (m->opaques.count) {
        const struct onnx_node *first = m->file->model->graph->nodes.items[m->opaques.items[0].node];
        return refuse_to_compile(o, "operator", first->op_type.text,
                                 arena_printf(&o->model.arena, "is kept as it is: %s", m->opaques.items[0].reason));
    }
    return ALL(size_t, i, m->outputs.count, can_be_given(o, "output", &m->outputs.items[i]));
}

// Names of the model's inputs or outputs; those of nodes that nobody understands have none.
static const char *const *names_of(struct arena *arena, const struct imported_value *values, size_t n_values, size_t n)
{
    const char **names = arena_array(arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = i < n_values ? values[i].name : "";
    return names;
}

// An input that the graph does not read has the type that the model says, if that has values.
static const struct type *types_of_inputs(struct optimizing *o, const struct graph *g)
{
    const struct imported_model *m = &o->model;
    size_t n = o->inputs.cut.n_inputs;
    struct type *types = arena_array(&o->arena, struct type, n + 1);
    for (size_t i = 0; i < n; i++) {
        bool is_typed = i < m->inputs.count && tensor_has_values(&m->graph, m->inputs.items[i].tensor);
        types[i] = is_typed ? *graph_type(&m->graph, m->inputs.items[i].tensor) : type_make(DTYPE_F32, 0, NULL);
    }
    vec_each(&g->nodes, node)
        if (node->op->id == OP_INPUT)
            types[node->attributes[0].ints[0]] = *graph_type(g, node->first_output);
    return types;
}

struct compiling_job {
    struct optimizing *o;
    bool is_result;
};

// The error of a guest's kernels together is seen by its host, who compares outputs with his own.
static struct model *prepare(void *context, const struct graph *g, const uint8_t *layouts,
                             const struct given_weights *weights, struct error *error)
{
    const struct compiling_job *job = context;
    struct optimizing *o = job->o;
    struct within_request request = {o->backend, g, layouts, weights, (uint64_t)o->options->seed};
    if (o->options->is_guest && o->options->is_check_skipped)
        return backend_prepare_from(o->backend, g, layouts, NULL, weights, error);
    return prepare_within(&request, &o->report.costs.within[job->is_result], error);
}

bool optimizing_compile(struct optimizing *o, const struct graph *g, bool is_result, const char *path,
                        struct error *error)
{
    struct imported_model *m = &o->model;
    size_t n_inputs = o->inputs.cut.n_inputs, n_outputs = g->outputs.count;
    struct compiling_job job = {o, is_result};
    struct compile_request request = {
        .graph = g,
        .weights = {m->weights.count, model_list_weights(m, g), &o->weight_source},
        .n_inputs = n_inputs,
        .n_outputs = n_outputs,
        .input_names = names_of(&o->arena, m->inputs.items, m->inputs.count, n_inputs),
        .output_names = names_of(&o->arena, m->outputs.items, m->outputs.count, n_outputs),
        .input_types = types_of_inputs(o, g),
        .backend = o->backend,
        .context = &job,
        .prepare = prepare,
    };
    o->backend->policy = o->results.policies[is_result];
    return compiled_model_write(&request, path, error);
}
