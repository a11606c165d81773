// The elements of initializers are views into ONNX Runtime's memory until the file is written.
#include "provider/model_bytes.h"

#include "core/formats/wire.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/type.h"
#include "onnx/convert/export/export_model.h"
#include "onnx/format/model.h"
#include "onnx/format/model_write.h"
#include <stdio.h>
#include <string.h>

enum { MODEL_LIMIT = INT32_MAX };

struct writing {
    const struct runtime *runtime;
    const struct graph_view *view;
    const size_t *nodes;
    size_t n_nodes;
    struct arena *arena;
    struct error *error;
    message_list proto_nodes, initializers, inputs, outputs;   // of the ONNX graph
    struct model_bytes *model;
    VEC(const char *) made, read;   // names, as pointers may differ for one value
};

static struct onnx_string text_of(const struct writing *w, const char *text)
{
    return (struct onnx_string){arena_string(w->arena, text), strlen(text)};
}

// --- tensors ---------------------------------------------------------------------------------------------------------

// A tensor with the elements where they are. NULL: it has none that are understood.
static struct onnx_tensor *make_tensor(const struct writing *w, const char *name, const OrtValue *value)
{
    struct tensor_form form;
    const void *data;
    if (!value || !runtime_read_value(w->runtime, value, &form) ||
        !runtime_is_done(w->runtime, w->runtime->api->GetTensorData(value, &data)) ||
        dtype_size(dtype_from_onnx(form.element_type)) == 0)
        return NULL;
    struct onnx_tensor *t = arena_new(w->arena, struct onnx_tensor);
    t->dims = (struct onnx_ints){.items = arena_copy_array(w->arena, form.dims, form.rank), .count = (size_t)form.rank};
    t->data_type = form.element_type;
    t->name = text_of(w, name);
    t->raw_data =
        (struct onnx_bytes){form.count ? data : "", form.count * dtype_size(dtype_from_onnx(form.element_type))};
    return t;
}

static bool put_initializer(struct writing *w, const struct graph_value *v)
{
    const OrtValue *value = NULL;
    struct onnx_tensor *t = NULL;
    if (runtime_is_done(w->runtime, w->runtime->api->ValueInfo_GetInitializerValue(v->info, &value)))
        t = make_tensor(w, v->name, value);
    if (!t)
        return error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "the initializer %s cannot be read", v->name);
    vec_push(&w->initializers, t);
    return true;
}

// --- attributes ------------------------------------------------------------------------------------------------------

// The value goes: its elements are copied.
static bool read_tensor_attribute(const struct writing *w, const OrtOpAttr *a, struct onnx_attribute *to)
{
    OrtValue *value = NULL;
    if (runtime_is_done(w->runtime, w->runtime->api->OpAttr_GetTensorAttributeAsOrtValue(a, &value)))
        to->t = make_tensor(w, "", value);
    if (to->t)
        to->t->raw_data.at = arena_copy(w->arena, to->t->raw_data.at, to->t->raw_data.size, 1);
    if (value)
        w->runtime->api->ReleaseValue(value);
    to->type = ONNX_ATTRIBUTE_TENSOR;
    return to->t != NULL;
}

static bool read_value(const struct writing *w, const OrtOpAttr *a, OrtOpAttrType type, struct onnx_attribute *to)
{
    size_t size = 0;
    if (type == ORT_OP_ATTR_TENSOR)
        return read_tensor_attribute(w, a, to);
    void *data = runtime_read_attribute(w->runtime, a, type, w->arena, &size);
    if (!data)
        return false;
    switch (type) {
    case ORT_OP_ATTR_INT:
        to->i = *(const int64_t *)data;
        ONNX_SET(to, 3);
        to->type = ONNX_ATTRIBUTE_INT;
        return true;
    case ORT_OP_ATTR_INTS:
        to->ints = (struct onnx_ints){.items = data, .count = size / sizeof(int64_t)};
        to->type = ONNX_ATTRIBUTE_INTS;
        return true;
    case ORT_OP_ATTR_FLOAT:
        to->f = *(const float *)data;
        ONNX_SET(to, 2);
        to->type = ONNX_ATTRIBUTE_FLOAT;
        return true;
    case ORT_OP_ATTR_FLOATS:
        to->floats = (struct onnx_floats){.items = data, .count = size / sizeof(float)};
        to->type = ONNX_ATTRIBUTE_FLOATS;
        return true;
    case ORT_OP_ATTR_STRING:
        to->s = (struct onnx_bytes){data, size};
        to->type = ONNX_ATTRIBUTE_STRING;
        return true;
    default:   // texts and graphs: of operators that are not taken
        return false;
    }
}

static struct onnx_attribute *make_attribute(const struct writing *w, const OrtOpAttr *a)
{
    const OrtApi *api = w->runtime->api;
    const char *name;
    OrtOpAttrType type;
    struct onnx_attribute *made = arena_new(w->arena, struct onnx_attribute);
    if (!runtime_is_done(w->runtime, api->OpAttr_GetName(a, &name)) ||
        !runtime_is_done(w->runtime, api->OpAttr_GetType(a, &type)) || !read_value(w, a, type, made))
        return NULL;
    made->name = text_of(w, name);
    return made;
}

static bool make_attributes(const struct writing *w, const struct graph_node *n, struct onnx_list *ret_list)
{
    const OrtApi *api = w->runtime->api;
    size_t count;
    if (!runtime_is_done(w->runtime, api->Node_GetNumAttributes(n->node, &count)))
        return false;
    const OrtOpAttr **attributes = arena_array(w->arena, const OrtOpAttr *, count + 1);
    *ret_list = (struct onnx_list){arena_array(w->arena, void *, count + 1), count};
    bool is_done = runtime_is_done(w->runtime, api->Node_GetAttributes(n->node, attributes, count));
    for (size_t i = 0; i < count && is_done; i++)
        is_done = (ret_list->items[i] = make_attribute(w, attributes[i])) != NULL;
    return is_done;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static struct onnx_strings names_of(const struct writing *w, const struct graph_value *values, size_t n)
{
    struct onnx_strings names = {arena_array(w->arena, struct onnx_string, n + 1), n};
    for (size_t i = 0; i < n; i++)
        names.items[i] = text_of(w, values[i].info ? values[i].name : "");
    return names;
}

static bool put_node(struct writing *w, const struct graph_node *n)
{
    struct onnx_node *made = arena_new(w->arena, struct onnx_node);
    made->inputs = names_of(w, n->inputs, n->n_inputs);
    made->outputs = names_of(w, n->outputs, n->n_outputs);
    made->name = text_of(w, n->name);
    made->op_type = text_of(w, n->type);
    made->domain = text_of(w, n->domain);
    vec_push(&w->proto_nodes, made);
    return make_attributes(w, n, &made->attributes) ||
           error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "the attributes of node %s cannot be read", n->name);
}

// --- inputs and outputs ----------------------------------------------------------------------------------------------

// ONNX Runtime gives no axes of a tensor of unknown rank, too: what is not the session's own input is no single number.
static bool has_known_rank(const struct writing *w, const struct graph_value *value, int rank)
{
    bool is_input = false;
    return rank > 0 ||
           (runtime_is_done(w->runtime, w->runtime->api->ValueInfo_IsRequiredGraphInput(value->info, &is_input)) &&
            is_input);
}

// A dimension without a name has one of its own.
static bool read_symbols(struct writing *w, const OrtTensorTypeAndShapeInfo *info, struct model_value *v)
{
    const char *names[MOST_AXES];
    if (!runtime_is_done(w->runtime, w->runtime->api->GetSymbolicDimensions(info, names, (size_t)v->form.rank)))
        return false;
    for (int i = 0; i < v->form.rank; i++)
        if (v->form.dims[i] < 0)
            v->symbols[i] =
                names[i] && *names[i] ? arena_string(w->arena, names[i]) : arena_printf(w->arena, "%s[%d]", v->name, i);
    return true;
}

struct onnx_value_info *model_value_info(const struct model_value *v, bool has_shape, struct arena *arena)
{
    struct onnx_value_info *made = describe_tensor(arena, (struct onnx_string){v->name, strlen(v->name)},
                                                   v->form.element_type, (size_t)v->form.rank, v->form.dims);
    struct onnx_shape *shape = made->type->tensor->shape;
    for (int i = 0; i < v->form.rank; i++)
        if (v->form.dims[i] < 0) {
            struct onnx_dimension d = {.symbol = {v->symbols[i], strlen(v->symbols[i])}};
            shape->dimensions.items[i] = arena_copy_array(arena, &d, 1);
        }
    made->type->tensor->shape = has_shape ? shape : NULL;
    return made;
}

// The known shapes of outputs follow.
static bool put_value_info(struct writing *w, bool is_input, const struct graph_value *value,
                           struct model_value *ret_value)
{
    const OrtTypeInfo *type;
    const OrtTensorTypeAndShapeInfo *info = NULL;
    struct model_value v = {.name = arena_string(w->arena, value->name)};
    if (!runtime_is_done(w->runtime, w->runtime->api->GetValueInfoTypeInfo(value->info, &type)) || !type ||
        !runtime_is_done(w->runtime, w->runtime->api->CastTypeInfoToTensorInfo(type, &info)) || !info ||
        !runtime_read_form(w->runtime, info, &v.form) || !read_symbols(w, info, &v) ||
        dtype_size(dtype_from_onnx(v.form.element_type)) == 0)
        return error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "%s has no type that is understood", value->name);
    bool has_shape = is_input && has_known_rank(w, value, v.form.rank);
    vec_push(is_input ? &w->inputs : &w->outputs, model_value_info(&v, has_shape, w->arena));
    *ret_value = v;
    return true;
}

static bool take_input(struct writing *w, const struct graph_value *v)
{
    struct model_value value;
    if (!v->info || text_is_among(v->name, w->read.count, w->read.items) ||
        text_is_among(v->name, w->made.count, w->made.items))
        return true;
    vec_push(&w->read, v->name);
    if (v->is_constant)
        return put_initializer(w, v);
    if (!put_value_info(w, true, v, &value))
        return false;
    vec_push(&w->model->inputs, value);
    return true;
}

static bool is_of_this(const struct writing *w, const OrtNode *node)
{
    return ANY(size_t, i, w->n_nodes, w->view->nodes[w->nodes[i]].node == node);
}

// Is it an output of the graph, or read by a node that is none of these, or in a subgraph?
static bool is_read_elsewhere(const struct writing *w, const struct graph_value *v)
{
    const OrtApi *api = w->runtime->api;
    bool is_output = false;
    size_t n;
    if (!runtime_is_done(w->runtime, api->ValueInfo_IsGraphOutput(v->info, &is_output)) || is_output ||
        !runtime_is_done(w->runtime, api->ValueInfo_GetValueNumConsumers(v->info, &n)))
        return true;
    const OrtNode **nodes = arena_array(w->arena, const OrtNode *, n + 1);
    int64_t *indices = arena_array(w->arena, int64_t, n + 1);
    return !runtime_is_done(w->runtime, api->ValueInfo_GetValueConsumers(v->info, nodes, indices, n)) ||
           ANY(size_t, i, n, indices[i] < 0 || !is_of_this(w, nodes[i]));
}

static bool take_output(struct writing *w, const struct graph_value *v)
{
    struct model_value value;
    if (!v->info)
        return true;
    vec_push(&w->made, v->name);
    if (!is_read_elsewhere(w, v))
        return true;
    if (!put_value_info(w, false, v, &value))
        return false;
    vec_push(&w->model->outputs, value);
    return true;
}

static bool put_nodes(struct writing *w)
{
    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct graph_node *n = &w->view->nodes[w->nodes[i]];
        for (size_t k = 0; k < n->n_inputs; k++)
            if (!take_input(w, &n->inputs[k]))
                return false;
        for (size_t k = 0; k < n->n_outputs; k++)
            if (!take_output(w, &n->outputs[k]))
                return false;
        if (!put_node(w, n))
            return false;
    }
    return true;
}

// --- the model -------------------------------------------------------------------------------------------------------

static struct onnx_list list_of(const message_list *messages)
{
    return (struct onnx_list){messages->items, messages->count};
}

static void describe_model(const struct writing *w, struct onnx_graph *graph, struct onnx_model *ret_model)
{
    size_t n = w->view->n_opsets;
    *graph = (struct onnx_graph){.nodes = list_of(&w->proto_nodes),
                                 .name = text_of(w, "group"),
                                 .initializers = list_of(&w->initializers),
                                 .inputs = list_of(&w->inputs),
                                 .outputs = list_of(&w->outputs)};
    *ret_model = (struct onnx_model){.ir_version = w->view->ir_version, .graph = graph};
    ret_model->opsets = (struct onnx_list){arena_array(w->arena, void *, n + 1), n};
    for (size_t i = 0; i < n; i++) {
        struct onnx_opset opset = {.domain = text_of(w, w->view->domains[i]), .version = w->view->versions[i]};
        ret_model->opsets.items[i] = arena_copy_array(w->arena, &opset, 1);
    }
}

static void put_into_stream(void *stream, const void *bytes, size_t size)
{
    fwrite(bytes, 1, size, stream);
}

static bool write_into(const struct memory_file *file, const struct onnx_model *model)
{
    FILE *stream = fopen(file->path, "we");
    if (!stream)
        return false;
    onnx_message_put(&onnx_model_descriptor, model, &(struct wire_sink){put_into_stream, stream});
    bool is_written = !ferror(stream);
    return fclose(stream) == 0 && is_written;
}

static bool write_model(struct writing *w)
{
    struct onnx_graph graph;
    struct onnx_model model;
    describe_model(w, &graph, &model);
    if (onnx_message_put(&onnx_model_descriptor, &model, NULL) > MODEL_LIMIT)
        return error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "a model of more than 2 GiB");
    return memory_file_open(&w->model->file, w->error) &&
           (write_into(&w->model->file, &model) ||
            error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "there is no memory for a copy of the model"));
}

bool model_bytes_make(struct model_bytes *ret_model, const struct runtime *r, const struct graph_view *view,
                      const size_t *nodes, size_t n_nodes, struct arena *arena, struct error *error)
{
    *ret_model = (struct model_bytes){.file = {.descriptor = -1}, .likely_length = LIKELY_LENGTH};
    struct writing w = {.runtime = r,
                        .view = view,
                        .nodes = nodes,
                        .n_nodes = n_nodes,
                        .arena = arena,
                        .error = error,
                        .model = ret_model};
    bool is_made = put_nodes(&w) && write_model(&w);
    vecs_free(&w, proto_nodes, initializers, inputs, outputs, made, read);
    if (!is_made)
        model_bytes_free(ret_model);
    return is_made;
}

int64_t model_bytes_likely_size(const struct model_bytes *m, const struct model_value *input, int axis)
{
    enum { BATCH = 1, PIXELS = 224 };
    if (input->form.dims[axis] >= 0)
        return input->form.dims[axis];
    for (const struct model_value *v = m->inputs.items; v <= input; v++)
        for (int k = 0; k < v->form.rank; k++)
            if (v->symbols[k] && strcmp(v->symbols[k], input->symbols[axis]) == 0)
                return k == 0 ? BATCH : v->form.rank == 4 ? PIXELS : m->likely_length;
    return m->likely_length;
}

const char *model_value_shape(const struct model_value *v, const int64_t *dims, struct arena *arena)
{
    const char *text = arena_printf(arena, "%s=", v->name);
    for (int i = 0; i < v->form.rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? "," : "", (long long)dims[i]);
    return ANY(int, i, v->form.rank, v->form.dims[i] < 0) ? text : NULL;
}

void model_bytes_free(struct model_bytes *m)
{
    memory_file_close(&m->file);
    vecs_free(m, inputs, outputs);
}
