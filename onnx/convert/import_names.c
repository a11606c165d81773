// Names of ONNX values: who they are, how often they are used, and which of them subgraphs reach out for.
#include "onnx/convert/import_names.h"

#include "core/memory/hash.h"
#include "onnx/format/visit.h"

#include <string.h>

static bool is_named(const void *owner, uint32_t id, const void *key)
{
    return onnx_string_equal(((const struct importer *)owner)->values.items[id].name, key);
}

static uint64_t hash_of(const struct onnx_string *name)
{
    return hash_bytes(name->text, name->size, 0);
}

struct named_value *name_find(const struct importer *im, const struct onnx_string *name)
{
    if (name->size == 0)
        return NULL;
    uint32_t id = table_find(&im->by_name, hash_of(name), is_named, im, name);
    return id == TABLE_NONE ? NULL : &im->values.items[id];
}

struct named_value *name_enter(struct importer *im, const struct onnx_string *name)
{
    struct named_value *found = name_find(im, name);
    if (found)
        return found;
    table_insert(&im->by_name, hash_of(name), (uint32_t)im->values.count);
    vec_push(&im->values, ((struct named_value){.name = name, .tensor = NO_TENSOR}));
    return &vec_last(&im->values);
}

// ---- the names in a message ----

struct name_reader {
    read_name_fn *read;
    void *context;
};

static bool read_inputs(void *context, void *message)
{
    const struct name_reader *reader = context;
    const struct onnx_node *n = message;
    for (size_t i = 0; i < n->inputs.count; i++)
        reader->read(reader->context, &n->inputs.items[i]);
    return true;
}

static bool read_outputs(void *context, void *message)
{
    const struct name_reader *reader = context;
    names_read_outputs(message, reader->read, reader->context);
    return true;
}

void names_read_outputs(const struct onnx_graph *g, read_name_fn *read, void *context)
{
    for (size_t i = 0; i < g->outputs.count; i++)
        read(context, &((const struct onnx_value_info *)g->outputs.items[i])->name);
}

void names_read(const struct onnx_descriptor *d, void *message, read_name_fn *read, void *context)
{
    struct name_reader reader = {read, context};
    onnx_message_visit(d, message, &onnx_node_descriptor, read_inputs, &reader);
    onnx_message_visit(d, message, &onnx_graph_descriptor, read_outputs, &reader);
}

// ---- liveness ----

static void need_name(void *importer, const struct onnx_string *name)
{
    if (name->size)
        name_enter(importer, name)->is_needed = true;
}

// The value that is known by a name; nothing for other names.
static struct named_value value_of(const struct importer *im, const struct onnx_string *name)
{
    const struct named_value *value = name_find(im, name);
    return value ? *value : (struct named_value){0};
}

// Nodes stand behind what they read. Names inside of subgraphs shadow no outer ones, so they may be taken for these.
const bool *names_find_live(struct importer *im)
{
    size_t n = im->source->nodes.count;
    bool *is_live = arena_array(&im->scratch, bool, n + 1);
    names_read_outputs(im->source, need_name, im);
    while (n-- > 0) {
        struct onnx_node *node = im->source->nodes.items[n];
        is_live[n] = vec_find(&node->outputs, name, value_of(im, name).is_needed);
        if (is_live[n])
            names_read(&onnx_node_descriptor, node, need_name, im);
    }
    return is_live;
}

// ---- uses ----

static void count_use(void *importer, const struct onnx_string *name)
{
    if (name->size)
        name_enter(importer, name)->uses++;
}

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

static void note_tensor(void *importer, const struct onnx_string *name)
{
    if (name->size)
        name_enter(importer, name)->is_a_tensor = true;
}

// Nodes are visited from behind: who reads what a node makes is known before the node.
static void find_tensors(struct importer *im, const bool *is_live)
{
    names_read_outputs(im->source, note_tensor, im);
    for (size_t k = im->source->nodes.count; k-- > 0;) {
        struct onnx_node *n = im->source->nodes.items[k];
        if (!is_live[k])
            continue;
        for (size_t i = 0; i < n->inputs.count; i++)
            if (!reads_sizes(im, n, i))
                note_tensor(im, &n->inputs.items[i]);
        for (size_t i = 0; i < n->attributes.count; i++)
            names_read(&onnx_attribute_descriptor, n->attributes.items[i], note_tensor, im);
    }
}

// A shape where no size is a symbol is known without the tensor; else where nothing but sizes is made of it.
static bool reads_shape_alone(const struct importer *im, const struct onnx_node *n)
{
    return onnx_node_is(n, "Shape") && n->inputs.count > 0 && (!im->part.named || !makes_tensors(im, n));
}

void names_count_uses(struct importer *im, const bool *is_live)
{
    names_read_outputs(im->source, count_use, im);
    find_tensors(im, is_live);
    for (size_t i = 0; i < im->source->nodes.count; i++) {
        struct onnx_node *n = im->source->nodes.items[i];
        if (is_live[i])
            names_read(&onnx_node_descriptor, n, count_use, im);
        if (is_live[i] && reads_shape_alone(im, n))
            name_enter(im, &n->inputs.items[0])->uses_of_sizes++;
    }
}

void names_free(struct importer *im)
{
    vec_free(&im->values);
    table_free(&im->by_name);
}

// ---- captured names ----

struct capture {
    struct importer *importer;
    VEC(const char *) names;
    struct table seen;   // index among the importer's values -> the same
};

// Names inside of a subgraph may not shadow outer ones, so every name that is known outside already is captured.
static void capture_name(void *context, const struct onnx_string *name)
{
    struct capture *c = context;
    const struct named_value *value = name_find(c->importer, name);
    if (!value || value->tensor == NO_TENSOR)
        return;
    uint32_t id = (uint32_t)(value - c->importer->values.items);
    if (table_find(&c->seen, id, NULL, NULL, NULL) != TABLE_NONE)
        return;
    table_insert(&c->seen, id, id);
    vec_push(&c->names, value->name->text);
}

const char **names_captured_by(struct importer *im, const struct onnx_node *n, uint32_t *ret_count)
{
    struct capture c = {.importer = im};
    for (size_t i = 0; i < n->attributes.count; i++)
        names_read(&onnx_attribute_descriptor, n->attributes.items[i], capture_name, &c);
    *ret_count = (uint32_t)c.names.count;
    const char **names = arena_array(&im->model->arena, const char *, c.names.count + 1);
    if (c.names.count)
        memcpy(names, c.names.items, c.names.count * sizeof *names);
    vec_free(&c.names);
    table_free(&c.seen);
    return names;
}
