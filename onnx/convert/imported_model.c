// An imported model. Origins of its tensors are found by value keys, which rewrites keep. Its weights are leaves of the
// graph whose elements are known. They stay where they are in the file until somebody asks for them; what is not
// aligned there, or stored as typed data, is copied once, on request.
#include "onnx/convert/imported_model.h"

#include "core/text/error.h"
#include "onnx/convert/constant_cache.h"
#include "onnx/format/model_file.h"
#include "onnx/format/tensor.h"

const struct imported_origin *imported_model_find_origin(const struct imported_model *m, uint64_t value)
{
    uint32_t id = table_find(&m->origins.by_value, value, NULL, NULL, NULL);
    return id == TABLE_NONE ? NULL : &m->origins.list.items[id];
}

void origin_remember(struct imported_model *m, tensor_id tensor, const char *name, uint32_t node, uint32_t output)
{
    uint64_t value = m->graph.tensors.items[tensor].value;
    if (imported_model_find_origin(m, value))
        return;
    table_insert(&m->origins.by_value, value, (uint32_t)m->origins.list.count);
    vec_push(&m->origins.list, ((struct imported_origin){tensor, name, node, output}));
}

void imported_model_free(struct imported_model *m)
{
    graph_free(&m->graph);
    vecs_free(m, inputs, outputs, weights, opaques, origins.list, symbols.list);
    sizes_free(&m->symbols.sizes);
    table_free(&m->origins.by_value);
    arena_free(&m->arena);
    if (m->constants)
        constant_cache_free(m->constants);
}

// ---- weights ----

tensor_id weight_add(struct imported_model *m, struct imported_weight weight)
{
    int64_t index = (int64_t)m->weights.count;
    vec_push(&m->weights, weight);
    return graph_add_leaf(&m->graph, operators[OP_WEIGHT], index, &vec_last(&m->weights).type);
}

static bool decode(struct imported_model *m, struct imported_weight *w, struct arena *arena, const void **ret_data,
                   struct error *error)
{
    struct onnx_bytes bytes;
    if (!w->tensor || dtype_size(w->type.dtype) == 0)
        return error_set(error, m->file->path, 0, 0, "weight %s has no elements that can be read",
                         w->name ? w->name : "(without a name)");
    if (!onnx_tensor_decode(w->tensor, arena, m->file->path, &bytes, error))
        return false;
    if (bytes.at != w->tensor->raw_data.at)
        onnx_file_forget(m->file, w->tensor->raw_data.at, w->tensor->raw_data.size);
    *ret_data = bytes.at;
    return true;
}

bool imported_weight_data(struct imported_model *m, size_t index, const void **ret_data, struct error *error)
{
    struct imported_weight *w = &m->weights.items[index];
    if (!w->data && !decode(m, w, &m->arena, &w->data, error))
        return false;
    *ret_data = w->data;
    return true;
}

const void *weight_elements(struct imported_model *m, struct imported_weight *w)
{
    struct error ignored;
    const void *data;
    return imported_weight_data(m, (size_t)(w - m->weights.items), &data, &ignored) ? data : NULL;
}

bool imported_weight_acquire(struct imported_model *m, size_t index, const void **ret_data, struct error *error)
{
    struct imported_weight *w = &m->weights.items[index];
    if (!w->data && w->n_users == 0 && !decode(m, w, &w->copy, &w->borrowed, error)) {
        arena_free(&w->copy);
        return false;
    }
    w->n_users += !w->data;
    *ret_data = w->data ? w->data : w->borrowed;
    return true;
}

void imported_weight_release(struct imported_model *m, size_t index, const void *data)
{
    struct imported_weight *w = &m->weights.items[index];
    if (data == w->borrowed && --w->n_users == 0) {
        arena_free(&w->copy);
        w->borrowed = NULL;
    }
    onnx_file_forget(m->file, data, (size_t)type_bytes(&w->type));
}
