// The exporter wants a model that the graph came from; here that has inputs, outputs and weights, and no nodes.
#include "onnx/convert/export/export_alone.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "onnx/convert/export/export.h"
#include "onnx/convert/export/export_model.h"
#include "onnx/format/model_write.h"

#include <string.h>

#define IR_VERSION_ALONE 8   // what knows the newest operators needs no more

struct stand_in {
    struct arena *arena;
    struct onnx_file file;
    struct onnx_model model;
    struct onnx_graph graph;
    struct onnx_opset opset;
    void *opsets[1];
    const struct alone_weights *weights;
    struct imported_model imported;
};

static struct onnx_string named(struct arena *arena, const char *stem, int64_t index)
{
    const char *text = arena_printf(arena, "%s_%lld", stem, (long long)index);
    return (struct onnx_string){text, strlen(text)};
}

static struct onnx_value_info *describe(struct arena *arena, struct onnx_string name, const struct type *type)
{
    return describe_tensor(arena, name, dtype_to_onnx(type->dtype), (size_t)type->rank, type->dim);
}

// Numbers that no kernel is slow at: neither denormal nor growing in chains of products.
static const void *made_up_elements(struct arena *arena, const struct type *type, int integer)
{
    enum { PATTERN = 64 };
    double pattern[PATTERN];
    size_t n = (size_t)type_elements(type), size = dtype_size(type->dtype);
    char *data = arena_alloc_zero(arena, type_bytes(type) + PATTERN * 16, 64);
    for (int i = 0; i < PATTERN; i++)
        pattern[i] = !dtype_is_float(type->dtype) ? integer : n <= 1 ? 2 : 0.01 * (1 + i % 7);
    elements_from_reals(type->dtype, pattern, PATTERN, data);
    for (size_t i = PATTERN; i < n; i += PATTERN)
        memcpy(data + i * size, data, (n - i < PATTERN ? n - i : PATTERN) * size);
    return data;
}

static const void *elements_of(const struct stand_in *s, size_t weight, const struct type *type)
{
    const void *known = s->weights->elements ? s->weights->elements[weight] : NULL;
    return known ? known : made_up_elements(s->arena, type, s->weights->integer);
}

static void add_leaf(struct stand_in *s, const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    const struct type *type = graph_type(g, node->first_output);
    if (node->op->id == OP_WEIGHT) {
        struct imported_weight w = {.type = *type, .data = elements_of(s, s->imported.weights.count, type)};
        vec_push(&s->imported.weights, w);
        return;
    }
    struct onnx_string name = named(s->arena, "input", (int64_t)s->imported.inputs.count);
    vec_push(&s->imported.inputs, ((struct imported_value){name.text, node->first_output}));
    s->graph.inputs.items[s->graph.inputs.count++] = describe(s->arena, name, type);
}

static void add_result(struct stand_in *s, const struct graph *g, size_t i)
{
    struct onnx_string name = named(s->arena, "output", (int64_t)i);
    vec_push(&s->imported.outputs, ((struct imported_value){name.text, g->outputs.items[i]}));
    s->graph.outputs.items[s->graph.outputs.count++] = describe(s->arena, name, graph_type(g, g->outputs.items[i]));
}

// Everything in the order of its number: leaves were added so.
static void fill(struct stand_in *s, const struct graph *g, int64_t opset)
{
    s->graph.name = named(s->arena, "part", 0);
    s->graph.inputs.items = arena_array(s->arena, void *, g->nodes.count + 1);
    s->graph.outputs.items = arena_array(s->arena, void *, g->outputs.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF)
            add_leaf(s, g, n);
    for (size_t i = 0; i < g->outputs.count; i++)
        add_result(s, g, i);
    s->opset.version = opset;
    s->opsets[0] = &s->opset;
    s->model.ir_version = IR_VERSION_ALONE;
    s->model.opsets = (struct onnx_list){s->opsets, 1};
    s->model.graph = &s->graph;
    s->file.path = "a part of the model";
    s->file.model = &s->model;
    s->imported.file = &s->file;
    s->imported.graph = *g;
    s->imported.opset = opset;
}

bool export_alone(const struct graph *g, int64_t opset, const struct alone_weights *weights, struct arena *arena,
                  struct onnx_bytes *ret_bytes, struct error *error)
{
    struct stand_in *s = arena_new(arena, struct stand_in);
    struct onnx_model *model;
    s->arena = arena;
    s->weights = weights;
    fill(s, g, opset);
    bool is_exported = export_model(&s->imported, g, &model, NULL, error);
    if (is_exported)
        *ret_bytes = onnx_message_encode(arena, &onnx_model_descriptor, model);
    vecs_free(s, imported.inputs, imported.outputs, imported.weights);
    arena_free(&s->imported.arena);
    return is_exported;
}
