// Attributes as ONNX Runtime's EPContext design has them: main_context, source, embed_mode, ep_cache_context.
#include "provider/context_node.h"

#include "core/system/file.h"
#include "core/text/error.h"
#include "onnx/format/model.h"
#include "onnx/format/model_write.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define OPERATOR "EPContext"
#define DOMAIN "com.microsoft"
#define IR_VERSION 8   // of models that are nothing but such a node

struct context_options context_options_read(const char *const *keys, const char *const *values, size_t n,
                                            struct arena *arena)
{
    struct context_options o = {false};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(keys[i], "ep.context_enable") == 0)
            o.is_written = strcmp(values[i], "1") == 0;
        else if (strcmp(keys[i], "ep.context_embed_mode") == 0)
            o.is_embedded = strcmp(values[i], "1") == 0;
        else if (strcmp(keys[i], "ep.context_file_path") == 0 && *values[i])
            o.path = arena_string(arena, values[i]);
    }
    return o;
}

// The file NAME in the folder of `path`.
static char *beside(struct arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return arena_printf(arena, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name);
}

static const char *name_in_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// --- writing ---------------------------------------------------------------------------------------------------------

static OrtOpAttr *attribute_make(const struct runtime *r, const char *name, const void *data, int size,
                                 OrtOpAttrType type)
{
    OrtOpAttr *attribute = NULL;
    runtime_is_done(r, r->api->CreateOpAttr(name, data, size, type, &attribute));
    return attribute;
}

static const char **names_of(struct arena *arena, const struct graph_value *values, size_t n)
{
    const char **names = arena_array(arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = values[i].info ? values[i].name : "";
    return names;
}

static OrtNode *node_make(const struct runtime *r, const struct graph_node *fused, bool is_embedded,
                          const void *context, size_t size, struct arena *arena)
{
    const int64_t main_context = 1, mode = is_embedded;
    OrtNode *node = NULL;
    OrtOpAttr *attributes[] = {
        attribute_make(r, "main_context", &main_context, 1, ORT_OP_ATTR_INT),
        attribute_make(r, "embed_mode", &mode, 1, ORT_OP_ATTR_INT),
        attribute_make(r, "source", PROVIDER_NAME, (int)strlen(PROVIDER_NAME), ORT_OP_ATTR_STRING),
        attribute_make(r, "ep_cache_context", context, (int)size, ORT_OP_ATTR_STRING),
    };
    const size_t n = sizeof attributes / sizeof *attributes;
    bool is_ready = ALL(size_t, i, n, attributes[i]);
    if (is_ready)
        runtime_is_done(r, r->api->GetModelEditorApi()->CreateNode(
                               OPERATOR, DOMAIN, fused->name, names_of(arena, fused->inputs, fused->n_inputs),
                               fused->n_inputs, names_of(arena, fused->outputs, fused->n_outputs), fused->n_outputs,
                               attributes, n, &node));
    for (size_t i = 0; i < n; i++)
        if (attributes[i])
            r->api->ReleaseOpAttr(attributes[i]);
    return node;
}

// The file beside the model that is written, into which the compiled model is copied.
static const char *write_beside(const struct context_options *o, const char *model_path, const struct file_map *map,
                                size_t number, struct arena *arena, struct error *error)
{
    const char *path = o->path ? o->path : model_path;
    if (!path || !*path) {
        error_set_code(error, EXIT_USAGE, NULL, "ep.context_file_path is needed for a model without a file");
        return NULL;
    }
    const char *name = arena_printf(arena, "%s.taso-%zu.bin", name_in_path(path), number);
    bool is_written = file_write_text(beside(arena, path, name), (const char *)map->bytes, map->size, error);
    return is_written ? name : NULL;
}

OrtNode *context_node_make(const struct runtime *r, const struct context_options *o, const struct graph_node *fused,
                           const char *compiled, const char *model_path, size_t number, struct error *error)
{
    ARENA(arena);
    struct file_map map;
    OrtNode *node = NULL;
    if (!file_map_open(&map, compiled, error))
        return NULL;
    if (o->is_embedded && map.size > INT_MAX)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "a region of more than 2 GiB needs ep.context_embed_mode 0");
    else if (o->is_embedded)
        node = node_make(r, fused, true, map.bytes, map.size, &arena);
    else {
        const char *name = write_beside(o, model_path, &map, number, &arena, error);
        node = name ? node_make(r, fused, false, name, strlen(name), &arena) : NULL;
    }
    if (!node && !*error->message)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "ONNX Runtime makes no EPContext node");
    file_map_close(&map);
    return node;
}

// --- as a model of its own -------------------------------------------------------------------------------------------

static struct onnx_string string_of(const char *text)
{
    return (struct onnx_string){text, strlen(text)};
}

static struct onnx_attribute text_attribute(const char *name, const char *text)
{
    return (struct onnx_attribute){
        .name = string_of(name), .type = ONNX_ATTRIBUTE_STRING, .s = {(const uint8_t *)text, strlen(text)}};
}

static struct onnx_attribute integer_attribute(const char *name, int64_t value)
{
    struct onnx_attribute a = {.name = string_of(name), .type = ONNX_ATTRIBUTE_INT, .i = value};
    ONNX_SET(&a, 3);
    return a;
}

// Value infos of the model, and the node's names.
static struct onnx_list values_of(const struct model_value *values, size_t n, struct arena *arena,
                                  struct onnx_strings *ret_names)
{
    struct onnx_list list = {arena_array(arena, void *, n + 1), n};
    *ret_names = (struct onnx_strings){arena_array(arena, struct onnx_string, n + 1), n};
    for (size_t i = 0; i < n; i++) {
        list.items[i] = model_value_info(&values[i], false, arena);
        ret_names->items[i] = string_of(values[i].name);
    }
    return list;
}

bool context_node_write_model(const struct model_bytes *m, const char *compiled, const char *path, struct error *error)
{
    ARENA(arena);
    struct onnx_attribute attributes[] = {integer_attribute("main_context", 1), integer_attribute("embed_mode", 0),
                                          text_attribute("source", PROVIDER_NAME),
                                          text_attribute("ep_cache_context", name_in_path(compiled))};
    void *listed[] = {&attributes[0], &attributes[1], &attributes[2], &attributes[3]};
    struct onnx_node node = {.op_type = string_of(OPERATOR), .domain = string_of(DOMAIN), .attributes = {listed, 4}};
    struct onnx_opset opset = {.domain = string_of(DOMAIN), .version = 1};
    struct onnx_graph graph = {.name = string_of(OPERATOR), .nodes = {(void *[]){&node}, 1}};
    struct onnx_model model = {.ir_version = IR_VERSION, .graph = &graph, .opsets = {(void *[]){&opset}, 1}};
    graph.inputs = values_of(m->inputs.items, m->inputs.count, &arena, &node.inputs);
    graph.outputs = values_of(m->outputs.items, m->outputs.count, &arena, &node.outputs);
    struct onnx_bytes bytes = onnx_message_encode(&arena, &onnx_model_descriptor, &model);
    return file_write_text(path, (const char *)bytes.at, bytes.size, error);
}

// --- reading ---------------------------------------------------------------------------------------------------------

// NULL: it has no such attribute.
static const void *read_attribute(const struct runtime *r, const struct graph_node *n, const char *name,
                                  OrtOpAttrType type, struct arena *arena, size_t *ret_size)
{
    const OrtOpAttr *attribute = NULL;
    bool is_there = runtime_is_done(r, r->api->Node_GetAttributeByName(n->node, name, &attribute)) && attribute;
    return is_there ? runtime_read_attribute(r, attribute, type, arena, ret_size) : NULL;
}

// The operator's standard is yes.
static bool is_embedded(const struct runtime *r, const struct graph_node *n, struct arena *arena)
{
    size_t size;
    const int64_t *mode = read_attribute(r, n, "embed_mode", ORT_OP_ATTR_INT, arena, &size);
    return !mode || *mode == 1;
}

bool context_node_is_ours(const struct runtime *r, const struct graph_node *n)
{
    size_t size;
    ARENA(arena);
    if (strcmp(n->type, OPERATOR) != 0 || strcmp(n->domain, DOMAIN) != 0)
        return false;
    const char *source = read_attribute(r, n, "source", ORT_OP_ATTR_STRING, &arena, &size);
    return source && size == strlen(PROVIDER_NAME) && memcmp(source, PROVIDER_NAME, size) == 0;
}

// Another name of the file, which stays when the first one is removed; or a copy, in another file system.
static bool link_or_copy(const char *path, const char *compiled, struct error *error)
{
    struct file_map map;
    if (linkat(AT_FDCWD, path, AT_FDCWD, compiled, AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_done = file_write_text(compiled, (const char *)map.bytes, map.size, error);
    file_map_close(&map);
    return is_done;
}

// A name in the model's own folder, and no way out of it.
static bool take_from_file(const char *model_path, const char *name, size_t size, const char *compiled,
                           struct error *error)
{
    ARENA(arena);
    if (memchr(name, '/', size) || memchr(name, '\0', size) || size == 0)
        return error_set(error, NULL, 0, 0, "an EPContext node names no file beside its model");
    return link_or_copy(beside(&arena, model_path, arena_string_n(&arena, name, size)), compiled, error);
}

bool context_node_unpack(const struct runtime *r, const struct graph_node *n, const char *model_path,
                         const char *compiled, struct error *error)
{
    size_t size;
    ARENA(arena);
    const char *context = read_attribute(r, n, "ep_cache_context", ORT_OP_ATTR_STRING, &arena, &size);
    if (!context)
        return error_set(error, NULL, 0, 0, "the EPContext node %s has no context", n->name);
    return is_embedded(r, n, &arena) ? file_write_text(compiled, context, size, error)
                                     : take_from_file(model_path, context, size, compiled, error);
}
