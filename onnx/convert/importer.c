// The state of an import, and types that ONNX states, as types of the graph.
#include "onnx/convert/importer.h"

void importer_init(struct importer *im, struct imported_model *m, struct onnx_file *file,
                   const struct import_options *options, struct error *error)
{
    *m = (struct imported_model){.file = file, .opset = onnx_version(&file->model->opsets, "")};
    graph_init(&m->graph, &m->arena);
    *im = (struct importer){.model = m, .source = file->model->graph, .options = options, .error = error};
}

void importer_free(struct importer *im)
{
    arena_free(&im->scratch);
    vecs_free(im, symbols, folding.is_constant, known, unfit);
    table_free(&im->kept);
    vec_free(&im->values);
    key_set_free(&im->names);
}

static int64_t size_of_symbol(const struct importer *im, const struct onnx_string *symbol)
{
    const struct bound_symbol *bound = symbol->size ? vec_find(&im->symbols, s, onnx_string_is(symbol, s->name)) : NULL;
    return bound ? bound->size : -1;
}

static int64_t dimension_of(const struct importer *im, const struct onnx_dimension *d)
{
    if (ONNX_HAS(d, 1))
        return d->value >= 0 && d->value <= MAX_ELEMENTS ? d->value : -1;
    return size_of_symbol(im, onnx_symbol(d));
}

struct type type_within_limits(struct type t)
{
    int64_t elements = 1;
    for (int i = 0; i < t.rank; i++) {
        int64_t d = t.dim[i] > 1 ? t.dim[i] : 1;
        if (d > MAX_ELEMENTS || elements > MAX_ELEMENTS / d)
            return (struct type){.dtype = t.dtype, .rank = RANK_UNKNOWN};
        elements *= d;
    }
    return t;
}

struct type type_from_onnx(const struct importer *im, const struct onnx_type *t)
{
    struct type type = {.rank = RANK_UNKNOWN};
    if (!t || !t->tensor)
        return type;
    type.dtype = dtype_from_onnx(t->tensor->elem_type);
    const struct onnx_shape *shape = t->tensor->shape;
    if (!shape || shape->dimensions.count > MAX_RANK)
        return type;
    type.rank = (int)shape->dimensions.count;
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = dimension_of(im, shape->dimensions.items[i]);
    return type_within_limits(type);
}

struct type type_of_tensor(const struct onnx_tensor *t)
{
    struct type type = {.rank = RANK_UNKNOWN, .dtype = dtype_from_onnx(t->data_type)};
    if (t->dims.count > MAX_RANK)
        return type;
    type.rank = (int)t->dims.count;
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = t->dims.items[i];
    return type_within_limits(type);
}

// ---- names of values: who they are, how often they are used, and which of them subgraphs reach out for ----

struct named_value *name_find(const struct importer *im, const struct onnx_string *name)
{
    uint32_t id = name->size == 0 ? KEY_NONE : key_set_find(&im->names, name->text, name->size);
    return id == KEY_NONE ? NULL : &im->values.items[id];
}

struct named_value *name_enter(struct importer *im, const struct onnx_string *name)
{
    uint32_t id = key_set_add(&im->names, NULL, name->text, name->size);
    if (id == im->values.count)
        vec_push(&im->values, ((struct named_value){.name = name, .tensor = NO_TENSOR}));
    return &im->values.items[id];
}

// ---- the names in a message ----

static void add_name(name_list *names, const struct onnx_string *name)
{
    if (name->size)
        vec_push(names, name);
}

static void add_outputs(const struct onnx_graph *g, name_list *names)
{
    for (size_t i = 0; i < g->outputs.count; i++)
        add_name(names, &((const struct onnx_value_info *)g->outputs.items[i])->name);
}

void names_add_read(const struct onnx_descriptor *d, const void *message, name_list *names)
{
    LOCAL_LIST(message_list, nodes);
    LOCAL_LIST(message_list, graphs);
    onnx_list_messages(d, message, &onnx_node_descriptor, &nodes);
    onnx_list_messages(d, message, &onnx_graph_descriptor, &graphs);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct onnx_node *n = nodes.items[i];
        for (size_t k = 0; k < n->inputs.count; k++)
            add_name(names, &n->inputs.items[k]);
    }
    for (size_t i = 0; i < graphs.count; i++)
        add_outputs(graphs.items[i], names);
}

// ---- liveness ----

// The value that is known by a name; nothing for other names.
static struct named_value value_of(const struct importer *im, const struct onnx_string *name)
{
    const struct named_value *value = name_find(im, name);
    return value ? *value : (struct named_value){0};
}

// Nodes stand behind what they read. Names inside of subgraphs shadow no outer ones, so they may be taken for these.
const bool *names_find_live(struct importer *im)
{
    LOCAL_LIST(name_list, needed);
    bool *is_live = arena_array(&im->scratch, bool, im->source->nodes.count + 1);
    add_outputs(im->source, &needed);
    for (size_t n = im->source->nodes.count; n-- > 0;) {
        const struct onnx_node *node = im->source->nodes.items[n];
        while (needed.count > 0)
            name_enter(im, vec_pop(&needed))->is_needed = true;
        is_live[n] = vec_find(&node->outputs, name, value_of(im, name).is_needed);
        if (is_live[n])
            names_add_read(&onnx_node_descriptor, node, &needed);
    }
    return is_live;
}

// ---- uses ----

static bool makes_tensors(const struct importer *im, const struct onnx_node *n)
{
    return vec_find(&n->outputs, name, value_of(im, name).is_a_tensor);
}

// Sizes that a node is told, and what is computed of these, are known without the nodes that compute them.
static bool reads_sizes(const struct importer *im, const struct onnx_node *n, size_t input)
{
    static const char computes[] =
        "Add Sub Mul Div Gather Slice Concat Reshape Cast Squeeze Unsqueeze Identity ReduceProd";
    return (input == 1 && onnx_node_is(n, "Reshape Expand")) || onnx_node_is(n, "ConstantOfShape") ||
           (onnx_node_is(n, computes) && !makes_tensors(im, n));
}

// Nodes are visited from behind: who reads what a node makes is known before the node.
static void find_tensors(struct importer *im, const bool *is_live)
{
    LOCAL_LIST(name_list, tensors);
    add_outputs(im->source, &tensors);
    for (size_t k = im->source->nodes.count; k-- > 0;) {
        const struct onnx_node *n = im->source->nodes.items[k];
        while (tensors.count > 0)
            name_enter(im, vec_pop(&tensors))->is_a_tensor = true;
        for (size_t i = 0; is_live[k] && i < n->inputs.count; i++)
            if (!reads_sizes(im, n, i))
                add_name(&tensors, &n->inputs.items[i]);
        for (size_t i = 0; is_live[k] && i < n->attributes.count; i++)
            names_add_read(&onnx_attribute_descriptor, n->attributes.items[i], &tensors);
    }
}

// A shape where no size is a symbol is known without the tensor; else where nothing but sizes is made of it.
static bool reads_shape_alone(const struct importer *im, const struct onnx_node *n)
{
    return onnx_node_is(n, "Shape") && n->inputs.count > 0 && (!im->part.named || !makes_tensors(im, n));
}

void names_count_uses(struct importer *im, const bool *is_live)
{
    LOCAL_LIST(name_list, used);
    add_outputs(im->source, &used);
    find_tensors(im, is_live);
    for (size_t i = 0; i < im->source->nodes.count; i++) {
        const struct onnx_node *n = im->source->nodes.items[i];
        if (is_live[i])
            names_add_read(&onnx_node_descriptor, n, &used);
        if (is_live[i] && reads_shape_alone(im, n))
            name_enter(im, &n->inputs.items[0])->uses_of_sizes++;
    }
    while (used.count > 0)
        name_enter(im, vec_pop(&used))->uses++;
}

// ---- captured names ----

// Names inside of a subgraph may not shadow outer ones, so every name that is known outside already is captured.
const char **names_captured_by(struct importer *im, const struct onnx_node *n, uint32_t *ret_count)
{
    LOCAL_LIST(name_list, read);
    struct key_set captured FREED_BY(key_set_free) = {0};
    for (size_t i = 0; i < n->attributes.count; i++)
        names_add_read(&onnx_attribute_descriptor, n->attributes.items[i], &read);
    for (size_t i = 0; i < read.count; i++) {
        const struct named_value *value = name_find(im, read.items[i]);
        if (value && value->tensor != NO_TENSOR)
            key_set_add(&captured, NULL, value->name->text, value->name->size);
    }
    const char **names = arena_array(&im->model->arena, const char *, captured.keys.count + 1);
    for (*ret_count = 0; *ret_count < captured.keys.count; (*ret_count)++)
        names[*ret_count] = captured.keys.items[*ret_count].bytes;
    return names;
}
