// An imported model, and origins of its tensors: they are found by value keys, which rewrites keep.
#include "onnx/convert/imported_model.h"

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
    vec_free(&m->inputs);
    vec_free(&m->outputs);
    vec_free(&m->weights);
    vec_free(&m->opaques);
    vec_free(&m->origins.list);
    vec_free(&m->symbols.list);
    sizes_free(&m->symbols.sizes);
    table_free(&m->origins.by_value);
    arena_free(&m->arena);
}
