// Both kinds of files come to the same: a graph with named inputs and outputs, and weights for it.
#include "optimizer/run/loaded_model.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/elements.h"
#include "graph/graph_whole.h"
#include "onnx/convert/import/import.h"
#include "onnx/format/check.h"
#include "onnx/format/model_file.h"
#include "optimizer/run/model_weights.h"

static void describe(struct loaded_model *m, const struct graph *g, const void *inputs, size_t n_inputs,
                     const void *outputs, size_t n_outputs)
{
    m->graph = g;
    m->inputs = inputs;
    m->n_inputs = n_inputs;
    m->outputs = outputs;
    m->n_outputs = n_outputs;
    m->weight_bytes = graph_bytes_of_leaves(g, OP_WEIGHT);
}

static bool open_compiled(struct loaded_model *m, const struct import_options *options, struct error *error)
{
    struct compiled_model *c = &m->compiled;
    if (options->shape_count)
        return error_set_code(error, EXIT_USAGE, m->path, "is compiled for its shapes: --shape has no say in them");
    if (!compiled_model_open(c, m->path, error))
        return false;
    describe(m, &c->graph, c->inputs.items, c->inputs.count, c->outputs.items, c->outputs.count);
    return true;
}

static bool open_onnx(struct loaded_model *m, const struct import_options *options, struct error *error)
{
    struct imported_model *i = &m->imported;
    if (!onnx_file_open(&m->file, m->path, error))
        return false;
    if (!onnx_model_check(m->file.model, m->path, error) || !import_model(i, &m->file, options, error)) {
        onnx_file_close(&m->file);
        return false;
    }
    describe(m, &i->graph, i->inputs.items, i->inputs.count, i->outputs.items, i->outputs.count);
    return true;
}

bool loaded_model_open(struct loaded_model *ret_model, const char *path, const struct import_options *options,
                       struct error *error)
{
    *ret_model = (struct loaded_model){.path = path, .is_compiled = compiled_model_is_at(path)};
    return ret_model->is_compiled ? open_compiled(ret_model, options, error) : open_onnx(ret_model, options, error);
}

void loaded_model_close(struct loaded_model *m)
{
    if (!m->graph)
        return;
    if (m->is_compiled) {
        compiled_model_close(&m->compiled);
    } else {
        imported_model_free(&m->imported);
        onnx_file_close(&m->file);
    }
    m->graph = NULL;
}

struct model *loaded_model_prepare(struct loaded_model *m, struct backend *b, struct error *error)
{
    if (m->is_compiled)
        return compiled_model_prepare(&m->compiled, b, error);
    m->weights = model_weight_source(&m->imported);
    b->options.weights = &m->weights;
    struct given_weights weights = {m->imported.weights.count, model_list_weights(&m->imported, m->graph), &m->weights};
    struct within_request request = {b, m->graph, NULL, &weights, 1};
    return prepare_within_by_policy(&request, &m->within, error);
}

// --- can it be run? --------------------------------------------------------------------------------------------------

static const struct onnx_shape *declared_shape(const struct loaded_model *m, const char *input)
{
    const struct onnx_list *inputs = &m->file.model->graph->inputs;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct onnx_value_info *value = inputs->items[i];
        if (onnx_string_is(&value->name, input))
            return value->type && value->type->tensor ? value->type->tensor->shape : NULL;
    }
    return NULL;
}

// (1, seq, 128): what is open by the name that --shape knows, if it has one.
static void add_dimensions(struct text *out, const struct type *type, const struct onnx_shape *declared)
{
    for (int i = 0; i < type->rank; i++) {
        const struct onnx_dimension *d = declared->dimensions.items[i];
        text_add(out, i ? ", " : " (");
        if (type->dim[i] >= 0)
            text_printf(out, "%lld", (long long)type->dim[i]);
        else
            text_add_shown(out, onnx_symbol(d)->size ? onnx_symbol(d)->text : "?");
    }
    text_add(out, ")");
}

// The input as a whole, or each symbol that it has.
static void add_options(struct text *out, const char *input, const struct type *type, const struct onnx_shape *declared)
{
    text_add(out, "--shape ");
    text_add_shown(out, input);
    text_add(out, "=...");
    bool is_first = true;
    for (int i = 0; declared && i < type->rank; i++) {
        const struct onnx_dimension *d = declared->dimensions.items[i];
        if (type->dim[i] >= 0 || onnx_symbol(d)->size == 0)
            continue;
        text_add(out, is_first ? ", or --shape " : " --shape ");
        text_add_shown(out, onnx_symbol(d)->text);
        text_add(out, "=...");
        is_first = false;
    }
}

static bool refuse_open_input(const struct loaded_model *m, const struct imported_value *input, struct error *error)
{
    const struct type *type = graph_type(m->graph, input->tensor);
    const struct onnx_shape *declared = m->is_compiled ? NULL : declared_shape(m, input->name);
    if (declared && (type->rank < 0 || (size_t)type->rank != declared->dimensions.count))
        declared = NULL;
    TEXT(text);
    text_add(&text, "the size of input ");
    text_add_shown(&text, input->name);
    if (declared)
        add_dimensions(&text, type, declared);
    text_add(&text, " is not known; ");
    add_options(&text, input->name, type, declared);
    text_add(&text, " gives it");
    error_set_code(error, EXIT_USAGE, m->path, "%s", text.chars);
    return false;
}

bool loaded_model_check_inputs(const struct loaded_model *m, struct error *error)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct type *type = graph_type(m->graph, m->inputs[i].tensor);
        if (!type_is_known(type))
            return refuse_open_input(m, &m->inputs[i], error);
        if (!dtype_has_numbers(type->dtype))
            return error_set_code(error, EXIT_UNSUPPORTED, m->path, "input %s has elements of type %s",
                                  m->inputs[i].name, dtype_name(type->dtype));
    }
    return true;
}

static node_id find_opaque_node(const struct graph *g)
{
    LOCAL_ZEROS(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    return FIRST_OF(node_id, n, g->nodes.count, live[n] && g->nodes.items[n].op->flags & OPERATOR_IS_OPAQUE);
}

static bool check_operators(const struct loaded_model *m, struct error *error)
{
    node_id n = find_opaque_node(m->graph);
    if (m->is_compiled || n == m->graph->nodes.count)
        return true;
    const struct imported_opaque *opaque = &m->imported.opaques.items[m->graph->nodes.items[n].attributes[0].ints[0]];
    const struct onnx_node *node = m->file.model->graph->nodes.items[opaque->node];
    return error_set_code(error, EXIT_UNSUPPORTED, m->path, "operator %s cannot be run here: %s", node->op_type.text,
                          opaque->reason);
}

bool loaded_model_check(const struct loaded_model *m, struct error *error)
{
    return loaded_model_check_inputs(m, error) && check_operators(m, error);
}

// --- inputs ----------------------------------------------------------------------------------------------------------

size_t loaded_model_input_index(const struct loaded_model *m, size_t input)
{
    return (size_t)graph_producer(m->graph, m->inputs[input].tensor)->attributes[0].ints[0];
}

struct tensor_value *loaded_model_make_inputs(const struct loaded_model *m, uint64_t seed, int64_t integer_limit,
                                              struct arena *arena)
{
    struct tensor_value *values = arena_array(arena, struct tensor_value, m->n_inputs + 1);
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct tensor_value *value = &values[loaded_model_input_index(m, i)];
        struct random random = random_seed(hash_mix(seed, hash_string(m->inputs[i].name)));
        value->type = *graph_type(m->graph, m->inputs[i].tensor);
        value->data = value_allocate(arena, &value->type);
        value_fill_random(value, &random, integer_limit);
    }
    return values;
}
