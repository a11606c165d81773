// Weights: leaves of the graph whose elements are known. They stay where they are in the file until somebody asks for
// them; what is not aligned there, or stored as typed data, is copied once, on request.
#include "core/error.h"
#include "onnx/convert/importer.h"
#include "onnx/format/tensor.h"

tensor_id weight_add(struct imported_model *m, struct imported_weight weight)
{
    int64_t index = (int64_t)m->weights.count;
    vec_push(&m->weights, weight);
    return graph_add_leaf(&m->graph, operators[OP_WEIGHT], index, &vec_last(&m->weights).type);
}

tensor_id imported_model_add_weight(struct imported_model *m, const struct type *type, const void *data)
{
    return weight_add(m, (struct imported_weight){.type = *type, .data = data});
}

struct imported_weight *weight_of(const struct imported_model *m, tensor_id tensor)
{
    const struct node *n = graph_producer(&m->graph, tensor);
    return n->op->id == OP_WEIGHT ? &m->weights.items[n->attributes[0].ints[0]] : NULL;
}

bool imported_weight_data(struct imported_model *m, size_t index, const void **ret_data, struct error *error)
{
    struct imported_weight *w = &m->weights.items[index];
    struct onnx_bytes bytes;
    if (!w->data) {
        if (!w->tensor || dtype_size(w->type.dtype) == 0)
            return error_set(error, m->file->path, 0, 0, "weight %s has no elements that can be read",
                             w->name ? w->name : "(without a name)");
        if (!onnx_tensor_decode(w->tensor, &m->arena, m->file->path, &bytes, error))
            return false;
        w->data = bytes.at;
        if (bytes.at != w->tensor->raw_data.at)
            onnx_file_forget(m->file, w->tensor->raw_data.at, w->tensor->raw_data.size);
    }
    *ret_data = w->data;
    return true;
}
