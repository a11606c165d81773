// Field numbers are those of onnx.proto. The elements of initializers are views into ONNX Runtime's memory until the
// file is written.
#include "provider/model_bytes.h"

#include "core/text/error.h"
#include "provider/message.h"
#include <string.h>

enum { MODEL_LIMIT = INT32_MAX, FIELD_INPUT = 11, FIELD_OUTPUT = 12 };

struct writing {
    const struct runtime *runtime;
    const struct graph_view *view;
    const size_t *nodes;
    size_t n_nodes;
    struct arena *arena;
    struct error *error;
    struct message graph;
    struct model_bytes *model;
    VEC(const char *) made, read;   // names, as pointers may differ for one value
};

static struct message part_of(const struct writing *w)
{
    return (struct message){.arena = w->arena};
}

// --- tensors ---------------------------------------------------------------------------------------------------------

static bool read_tensor_type(const struct writing *w, const OrtTensorTypeAndShapeInfo *info, struct model_value *v)
{
    const OrtApi *api = w->runtime->api;
    enum ONNXTensorElementDataType type;
    size_t rank;
    if (!runtime_is_done(w->runtime, api->GetTensorElementType(info, &type)) ||
        !runtime_is_done(w->runtime, api->GetDimensionsCount(info, &rank)) || rank > MOST_AXES)
        return false;
    v->element_type = (int)type;
    v->rank = (int)rank;
    return runtime_is_done(w->runtime, api->GetDimensions(info, v->dims, rank));
}

static size_t element_bytes(int element_type)
{
    static const uint8_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2};
    return element_type >= 0 && element_type < (int)sizeof sizes ? sizes[element_type] : 0;
}

// A TensorProto with the elements where they are.
static bool put_tensor(struct writing *w, struct message *m, uint32_t field, const char *name, const OrtValue *value)
{
    const OrtApi *api = w->runtime->api;
    OrtTensorTypeAndShapeInfo *info;
    struct model_value v = {.name = name};
    const void *data;
    size_t count;
    if (!value || !runtime_is_done(w->runtime, api->GetTensorTypeAndShape(value, &info)))
        return false;
    bool is_read = read_tensor_type(w, info, &v) &&
                   runtime_is_done(w->runtime, api->GetTensorShapeElementCount(info, &count)) &&
                   runtime_is_done(w->runtime, api->GetTensorData(value, &data));
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (!is_read || element_bytes(v.element_type) == 0)
        return false;
    struct message tensor = part_of(w);
    for (int i = 0; i < v.rank; i++)
        message_put_integer(&tensor, 1, v.dims[i]);
    message_put_integer(&tensor, 2, v.element_type);
    message_put_text(&tensor, 8, name);
    message_put_bytes(&tensor, 9, data, count * element_bytes(v.element_type));
    message_put_message(m, field, &tensor);
    return true;
}

static bool put_initializer(struct writing *w, const struct graph_value *v)
{
    const OrtValue *value = NULL;
    if (runtime_is_done(w->runtime, w->runtime->api->ValueInfo_GetInitializerValue(v->info, &value)) &&
        put_tensor(w, &w->graph, 5, v->name, value))
        return true;
    return error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "the initializer %s cannot be read", v->name);
}

// --- attributes ------------------------------------------------------------------------------------------------------

// The attribute's value as it is in memory: of a text `size` bytes, of lists `size` bytes in all.
static const void *read_attribute(const struct writing *w, const OrtOpAttr *a, OrtOpAttrType type, size_t *ret_size)
{
    const OrtApi *api = w->runtime->api;
    size_t size = 0;
    runtime_is_done(w->runtime, api->ReadOpAttr(a, type, NULL, 0, &size));   // fails, and says how much is needed
    void *data = arena_alloc(w->arena, size + 1, _Alignof(max_align_t));
    return runtime_is_done(w->runtime, api->ReadOpAttr(a, type, data, size, ret_size)) ? data : NULL;
}

enum { KIND_FLOAT = 1, KIND_INT = 2, KIND_STRING = 3, KIND_TENSOR = 4, KIND_FLOATS = 6, KIND_INTS = 7 };

static bool put_tensor_attribute(struct writing *w, struct message *m, const OrtOpAttr *a)
{
    OrtValue *value = NULL;
    bool is_put = runtime_is_done(w->runtime, w->runtime->api->OpAttr_GetTensorAttributeAsOrtValue(a, &value));
    struct message copied = part_of(w);
    is_put = is_put && put_tensor(w, &copied, 5, "", value);
    if (is_put) {   // the value goes: its elements are copied
        for (size_t i = 0; i < copied.pieces.count; i++)
            copied.pieces.items[i].bytes =
                arena_copy(w->arena, copied.pieces.items[i].bytes, copied.pieces.items[i].size, 1);
        for (size_t i = 0; i < copied.pieces.count; i++)
            vec_push(&m->pieces, copied.pieces.items[i]);
        m->size += copied.size;
    }
    message_free(&copied);
    if (value)
        w->runtime->api->ReleaseValue(value);
    message_put_integer(m, 20, KIND_TENSOR);
    return is_put;
}

static bool put_value(struct writing *w, struct message *m, const OrtOpAttr *a, OrtOpAttrType type)
{
    size_t size = 0;
    if (type == ORT_OP_ATTR_TENSOR)
        return put_tensor_attribute(w, m, a);
    const void *data = read_attribute(w, a, type, &size);
    if (!data)
        return false;
    switch (type) {
    case ORT_OP_ATTR_INT:
        message_put_integer(m, 3, *(const int64_t *)data);
        message_put_integer(m, 20, KIND_INT);
        return true;
    case ORT_OP_ATTR_INTS:
        for (size_t i = 0; i < size / sizeof(int64_t); i++)
            message_put_integer(m, 8, ((const int64_t *)data)[i]);
        message_put_integer(m, 20, KIND_INTS);
        return true;
    case ORT_OP_ATTR_FLOAT:
        message_put_float(m, 2, *(const float *)data);
        message_put_integer(m, 20, KIND_FLOAT);
        return true;
    case ORT_OP_ATTR_FLOATS:
        for (size_t i = 0; i < size / sizeof(float); i++)
            message_put_float(m, 7, ((const float *)data)[i]);
        message_put_integer(m, 20, KIND_FLOATS);
        return true;
    case ORT_OP_ATTR_STRING:
        message_put_bytes(m, 4, data, size);
        message_put_integer(m, 20, KIND_STRING);
        return true;
    default:   // texts and graphs: of operators that are not taken
        return false;
    }
}

static bool put_attribute(struct writing *w, struct message *node, const OrtOpAttr *a)
{
    const OrtApi *api = w->runtime->api;
    const char *name;
    OrtOpAttrType type;
    struct message m = part_of(w);
    bool is_put = runtime_is_done(w->runtime, api->OpAttr_GetName(a, &name)) &&
                  runtime_is_done(w->runtime, api->OpAttr_GetType(a, &type));
    if (is_put)
        message_put_text(&m, 1, name);
    is_put = is_put && put_value(w, &m, a, type);
    if (is_put)
        message_put_message(node, 5, &m);
    message_free(&m);
    return is_put;
}

static bool put_attributes(struct writing *w, struct message *m, const struct graph_node *n)
{
    const OrtApi *api = w->runtime->api;
    size_t count;
    if (!runtime_is_done(w->runtime, api->Node_GetNumAttributes(n->node, &count)))
        return false;
    const OrtOpAttr **attributes = arena_array(w->arena, const OrtOpAttr *, count + 1);
    bool is_done = runtime_is_done(w->runtime, api->Node_GetAttributes(n->node, attributes, count));
    for (size_t i = 0; i < count && is_done; i++)
        is_done = put_attribute(w, m, attributes[i]);
    return is_done;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static bool put_node(struct writing *w, const struct graph_node *n)
{
    struct message m = part_of(w);
    for (size_t i = 0; i < n->n_inputs; i++)
        message_put_text(&m, 1, n->inputs[i].info ? n->inputs[i].name : "");
    for (size_t i = 0; i < n->n_outputs; i++)
        message_put_text(&m, 2, n->outputs[i].info ? n->outputs[i].name : "");
    message_put_text(&m, 3, n->name);
    message_put_text(&m, 4, n->type);
    message_put_text(&m, 7, n->domain);
    bool is_put = put_attributes(w, &m, n);
    if (is_put)
        message_put_message(&w->graph, 1, &m);
    message_free(&m);
    return is_put ||
           error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "the attributes of node %s cannot be read", n->name);
}

// --- inputs and outputs ----------------------------------------------------------------------------------------------

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

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
    if (!runtime_is_done(w->runtime, w->runtime->api->GetSymbolicDimensions(info, names, (size_t)v->rank)))
        return false;
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] < 0)
            v->symbols[i] =
                names[i] && *names[i] ? arena_string(w->arena, names[i]) : arena_printf(w->arena, "%s[%d]", v->name, i);
    return true;
}

static bool put_value_info(struct writing *w, uint32_t field, const struct graph_value *value,
                           struct model_value *ret_value)
{
    const OrtTypeInfo *type;
    const OrtTensorTypeAndShapeInfo *info = NULL;
    struct model_value v = {.name = arena_string(w->arena, value->name)};
    if (!runtime_is_done(w->runtime, w->runtime->api->GetValueInfoTypeInfo(value->info, &type)) || !type ||
        !runtime_is_done(w->runtime, w->runtime->api->CastTypeInfoToTensorInfo(type, &info)) || !info ||
        !read_tensor_type(w, info, &v) || !read_symbols(w, info, &v) || element_bytes(v.element_type) == 0)
        return error_set_code(w->error, EXIT_UNSUPPORTED, NULL, "%s has no type that is understood", value->name);
    struct message shape = part_of(w), tensor = part_of(w), proto = part_of(w), m = part_of(w);
    for (int i = 0; i < v.rank; i++) {
        struct message dim = part_of(w);
        if (v.dims[i] >= 0)
            message_put_integer(&dim, 1, v.dims[i]);
        else
            message_put_text(&dim, 2, v.symbols[i]);
        message_put_message(&shape, 1, &dim);
    }
    message_put_integer(&tensor, 1, v.element_type);
    if (field == FIELD_INPUT && has_known_rank(w, value, v.rank))   // what is known of outputs follows
        message_put_message(&tensor, 2, &shape);
    message_put_message(&proto, 1, &tensor);
    message_put_text(&m, 1, v.name);
    message_put_message(&m, 2, &proto);
    message_put_message(&w->graph, field, &m);
    message_free(&shape);
    *ret_value = v;
    return true;
}

static bool take_input(struct writing *w, const struct graph_value *v)
{
    struct model_value value;
    if (!v->info || is_among(w->read.items, w->read.count, v->name) || is_among(w->made.items, w->made.count, v->name))
        return true;
    vec_push(&w->read, v->name);
    if (v->is_constant)
        return put_initializer(w, v);
    if (!put_value_info(w, FIELD_INPUT, v, &value))
        return false;
    vec_push(&w->model->inputs, value);
    return true;
}

static bool is_of_this(const struct writing *w, const OrtNode *node)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if (w->view->nodes[w->nodes[i]].node == node)
            return true;
    return false;
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
    if (!runtime_is_done(w->runtime, api->ValueInfo_GetValueConsumers(v->info, nodes, indices, n)))
        return true;
    for (size_t i = 0; i < n; i++)
        if (indices[i] < 0 || !is_of_this(w, nodes[i]))
            return true;
    return false;
}

static bool take_output(struct writing *w, const struct graph_value *v)
{
    struct model_value value;
    if (!v->info)
        return true;
    vec_push(&w->made, v->name);
    if (!is_read_elsewhere(w, v))
        return true;
    if (!put_value_info(w, FIELD_OUTPUT, v, &value))
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

static void put_model(struct writing *w, struct message *model)
{
    message_put_integer(model, 1, w->view->ir_version);
    for (size_t i = 0; i < w->view->n_opsets; i++) {
        struct message opset = part_of(w);
        message_put_text(&opset, 1, w->view->domains[i]);
        message_put_integer(&opset, 2, w->view->versions[i]);
        message_put_message(model, 8, &opset);
    }
    message_put_text(&w->graph, 2, "group");
    message_put_message(model, 7, &w->graph);
}

bool model_bytes_make(struct model_bytes *ret_model, const struct runtime *r, const struct graph_view *view,
                      const size_t *nodes, size_t n_nodes, struct arena *arena, struct error *error)
{
    *ret_model = (struct model_bytes){.file = {.descriptor = -1}};
    struct writing w = {r, view, nodes, n_nodes, arena, error, .model = ret_model};
    struct message model = {.arena = arena};
    w.graph.arena = arena;
    bool is_made = put_nodes(&w);
    if (is_made)
        put_model(&w, &model);
    if (is_made && model.size > MODEL_LIMIT)
        is_made = error_set_code(error, EXIT_UNSUPPORTED, NULL, "a model of more than 2 GiB");
    ret_model->size = model.size;
    is_made = is_made && memory_file_open(&ret_model->file, error) && message_write(&model, &ret_model->file, error);
    message_free(&model);
    message_free(&w.graph);
    vec_free(&w.made);
    vec_free(&w.read);
    if (!is_made)
        model_bytes_free(ret_model);
    return is_made;
}

int64_t model_bytes_likely_size(const struct model_bytes *m, const struct model_value *input, int axis)
{
    enum { BATCH = 1, LENGTH = 128, PIXELS = 224 };
    if (input->dims[axis] >= 0)
        return input->dims[axis];
    for (const struct model_value *v = m->inputs.items; v <= input; v++)
        for (int k = 0; k < v->rank; k++)
            if (v->symbols[k] && strcmp(v->symbols[k], input->symbols[axis]) == 0)
                return k == 0 ? BATCH : v->rank == 4 ? PIXELS : LENGTH;
    return LENGTH;
}

static bool has_symbols(const struct model_value *v)
{
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] < 0)
            return true;
    return false;
}

const char *model_value_shape(const struct model_value *v, const int64_t *dims, struct arena *arena)
{
    const char *text = arena_printf(arena, "%s=", v->name);
    for (int i = 0; i < v->rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? "," : "", (long long)dims[i]);
    return has_symbols(v) ? text : NULL;
}

void model_bytes_free(struct model_bytes *m)
{
    memory_file_close(&m->file);
    vec_free(&m->inputs);
    vec_free(&m->outputs);
}
