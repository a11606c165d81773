// Names of ONNX values: who they are, how often they are used, and which of them subgraphs reach out for.
#include "core/memory/hash.h"
#include "onnx/convert/importer.h"

#include <string.h>

static bool is_named(const void *owner, uint32_t id, const void *key)
{
    const struct onnx_string *a = ((const struct importer *)owner)->values.items[id].name, *b = key;
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
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

// ---- liveness ----

static bool need_inputs(void *context, void *message)
{
    const struct onnx_node *n = message;
    for (size_t i = 0; i < n->inputs.count; i++)
        if (n->inputs.items[i].size)
            name_enter(context, &n->inputs.items[i])->is_needed = true;
    return true;
}

static bool need_outputs(void *context, void *message)
{
    const struct onnx_graph *g = message;
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct onnx_value_info *output = g->outputs.items[i];
        if (output->name.size)
            name_enter(context, &output->name)->is_needed = true;
    }
    return true;
}

static bool has_needed_output(const struct importer *im, const struct onnx_node *n)
{
    for (size_t i = 0; i < n->outputs.count; i++) {
        const struct named_value *value = name_find(im, &n->outputs.items[i]);
        if (value && value->is_needed)
            return true;
    }
    return false;
}

// Nodes stand behind what they read. Names inside of subgraphs shadow no outer ones, so they may be taken for these.
const bool *names_find_live(struct importer *im)
{
    size_t n = im->source->nodes.count;
    bool *is_live = arena_array(&im->scratch, bool, n + 1);
    need_outputs(im, (void *)(uintptr_t)im->source);
    while (n-- > 0) {
        struct onnx_node *node = im->source->nodes.items[n];
        is_live[n] = has_needed_output(im, node);
        if (!is_live[n])
            continue;
        onnx_message_visit(&onnx_node_descriptor, node, &onnx_node_descriptor, need_inputs, im);
        onnx_message_visit(&onnx_node_descriptor, node, &onnx_graph_descriptor, need_outputs, im);
    }
    return is_live;
}

// ---- uses ----

static void count_use(struct importer *im, const struct onnx_string *name)
{
    if (name->size)
        name_enter(im, name)->uses++;
}

static bool count_inputs(void *context, void *message)
{
    const struct onnx_node *n = message;
    for (size_t i = 0; i < n->inputs.count; i++)
        count_use(context, &n->inputs.items[i]);
    return true;
}

static bool count_outputs(void *context, void *message)
{
    const struct onnx_graph *g = message;
    for (size_t i = 0; i < g->outputs.count; i++)
        count_use(context, &((const struct onnx_value_info *)g->outputs.items[i])->name);
    return true;
}

void names_count_uses(struct importer *im, const bool *is_live)
{
    count_outputs(im, (void *)(uintptr_t)im->source);
    for (size_t i = 0; i < im->source->nodes.count; i++) {
        if (!is_live[i])
            continue;
        void *node = im->source->nodes.items[i];
        onnx_message_visit(&onnx_node_descriptor, node, &onnx_node_descriptor, count_inputs, im);
        onnx_message_visit(&onnx_node_descriptor, node, &onnx_graph_descriptor, count_outputs, im);
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

static bool is_value(const void *owner, uint32_t id, const void *key)
{
    return id == *(const uint32_t *)key;
}

static void capture_name(struct capture *c, const struct onnx_string *name)
{
    const struct named_value *value = name_find(c->importer, name);
    if (!value || value->tensor == NO_TENSOR)
        return;
    uint32_t id = (uint32_t)(value - c->importer->values.items);
    uint64_t hash = hash_mix(id, 0);
    if (table_find(&c->seen, hash, is_value, NULL, &id) != TABLE_NONE)
        return;
    table_insert(&c->seen, hash, id);
    vec_push(&c->names, value->name->text);
}

// Names inside of a subgraph may not shadow outer ones, so every name that is known outside already is captured.
static bool capture_inputs(void *context, void *message)
{
    const struct onnx_node *n = message;
    for (size_t i = 0; i < n->inputs.count; i++)
        capture_name(context, &n->inputs.items[i]);
    return true;
}

static bool capture_outputs(void *context, void *message)
{
    const struct onnx_graph *g = message;
    for (size_t i = 0; i < g->outputs.count; i++)
        capture_name(context, &((const struct onnx_value_info *)g->outputs.items[i])->name);
    return true;
}

const char **names_captured_by(struct importer *im, const struct onnx_node *n, uint32_t *ret_count)
{
    struct capture c = {.importer = im};
    for (size_t i = 0; i < n->attributes.count; i++) {
        void *attribute = n->attributes.items[i];
        onnx_message_visit(&onnx_attribute_descriptor, attribute, &onnx_node_descriptor, capture_inputs, &c);
        onnx_message_visit(&onnx_attribute_descriptor, attribute, &onnx_graph_descriptor, capture_outputs, &c);
    }
    *ret_count = (uint32_t)c.names.count;
    const char **names = arena_array(&im->model->arena, const char *, c.names.count + 1);
    if (c.names.count)
        memcpy(names, c.names.items, c.names.count * sizeof *names);
    vec_free(&c.names);
    table_free(&c.seen);
    return names;
}
