// A reader that wants a node of its own, as ONNX Runtime does of what dequantizes for it, makes a copy by itself.
#include "onnx/convert/import/equal_nodes.h"

#include "core/memory/hash.h"
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/read_node.h"
#include "onnx/format/model_write.h"

#include <string.h>

#define LARGEST_COMPARED 4096   // bytes of a constant

struct wanted {
    const struct conversion *conversion;
    const struct type *types;
};

static bool have_equal_data(struct imported_model *m, struct imported_weight *a, struct imported_weight *b)
{
    const void *x, *y;
    size_t size = type_is_known(&a->type) ? (size_t)type_bytes(&a->type) : SIZE_MAX;
    return size <= LARGEST_COMPARED && type_equal(&a->type, &b->type) && (x = weight_elements(m, a)) &&
           (y = weight_elements(m, b)) && memcmp(x, y, size) == 0;
}

static bool are_equal_inputs(struct imported_model *m, tensor_id a, tensor_id b)
{
    if (a == b || a == NO_TENSOR || b == NO_TENSOR)
        return a == b;
    struct imported_weight *x = weight_of(m, a), *y = weight_of(m, b);
    return x && y && have_equal_data(m, x, y);
}

static bool read_the_same(const struct conversion *c, uint32_t earlier)
{
    return node_at(c, earlier)->inputs.count == c->n_inputs &&
           ALL(uint32_t, i, c->n_inputs,
               are_equal_inputs(c->model, c->model->origins.node_inputs[earlier][i], c->inputs[i]));
}

static bool has_attribute_equal_to(struct arena *scratch, const struct onnx_node *n, const struct onnx_attribute *a)
{
    const struct onnx_attribute *b = onnx_node_find(n, a->name.text);
    return b && onnx_messages_are_equal(scratch, &onnx_attribute_descriptor, a, b);
}

static bool do_the_same(struct arena *scratch, const struct onnx_node *a, const struct onnx_node *b)
{
    return strcmp(a->op_type.text, b->op_type.text) == 0 && a->attributes.count == b->attributes.count &&
           ALL(size_t, i, a->attributes.count, has_attribute_equal_to(scratch, b, a->attributes.items[i]));
}

static bool give_the_same_types(const struct imported_model *m, const struct imported_opaque *o, uint32_t n_outputs,
                                const struct type *types)
{
    return o->n_outputs == n_outputs &&
           ALL(uint32_t, i, n_outputs, type_equal(graph_type(&m->graph, o->first_output + i), &types[i]));
}

static bool is_equal(const void *owner, uint32_t id, const void *key)
{
    const struct wanted *w = key;
    const struct conversion *c = w->conversion;
    const struct imported_opaque *o = &c->model->opaques.items[id];
    return give_the_same_types(c->model, o, c->n_outputs, w->types) &&
           do_the_same(&c->importer->scratch, node_at(c, o->node), c->node) && read_the_same(c, o->node);
}

// All that is understood is one, but what drops entries at random in training.
static bool is_function(const struct conversion *c)
{
    const struct converter *row = onnx_node_has_standard_domain(c->node) ? converter_find(c->node->op_type.text) : NULL;
    return row && c->opset >= row->first_opset && c->opset <= row->last_opset && strcmp(row->name, "Dropout") != 0;
}

// A hash of the kind of node and of the tensors that are no weights, which may be equal and yet not the same.
static uint64_t hash_of(const struct conversion *c)
{
    uint64_t hash = hash_bytes(c->node->op_type.text, c->node->op_type.size, c->n_inputs);
    for (uint32_t i = 0; i < c->n_inputs; i++)
        if (c->inputs[i] == NO_TENSOR || !is_weight(c, c->inputs[i]))
            hash = hash_mix(hash, c->inputs[i]);
    return hash;
}

uint32_t import_find_equal(struct importer *im, const struct conversion *c, const struct type *types)
{
    struct wanted wanted = {c, types};
    return is_function(c) ? table_find(&im->kept, hash_of(c), is_equal, NULL, &wanted) : TABLE_NONE;
}

void import_note_kept(struct importer *im, const struct conversion *c)
{
    if (is_function(c))
        table_insert(&im->kept, hash_of(c), (uint32_t)im->model->opaques.count - 1);
}
