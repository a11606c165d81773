// Origins are found by value keys, which rewrites keep. The first name of a tensor stays.
#include "onnx/convert/origins.h"

static bool has_value(const void *owner, uint32_t id, const void *key)
{
    const struct imported_model *m = owner;
    return m->graph.tensors.items[m->origins.items[id].tensor].value == *(const uint64_t *)key;
}

const struct imported_origin *imported_model_find_origin(const struct imported_model *m, uint64_t value)
{
    uint32_t id = table_find(&m->origin_by_value, value, has_value, m, &value);
    return id == TABLE_NONE ? NULL : &m->origins.items[id];
}

void origin_remember(struct imported_model *m, tensor_id tensor, const char *name, uint32_t node, uint32_t output)
{
    uint64_t value = m->graph.tensors.items[tensor].value;
    if (imported_model_find_origin(m, value))
        return;
    table_insert(&m->origin_by_value, value, (uint32_t)m->origins.count);
    vec_push(&m->origins, ((struct imported_origin){tensor, name, node, output}));
}
