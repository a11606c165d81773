// The new model around its nodes: initializers, inputs, and what the old model says of what is left.
#include "onnx/convert/export/export_model.h"

#include <string.h>

// ---- weights ----

// The tensor of a Constant node has any name, or none.
static const struct onnx_tensor *named_tensor(struct exporter *x, const struct onnx_tensor *t, const char *name)
{
    if (onnx_string_is(&t->name, name))
        return t;
    struct onnx_tensor *named = arena_copy_array(x->arena, t, 1);
    set_name(&named->name, name);
    return named;
}

static void write_initializers(struct exporter *x, struct onnx_graph *g)
{
    const struct imported_model *m = x->model;
    g->initializers = g->sparse_initializers = (struct onnx_list){0};
    for (size_t i = 0; i < m->weights.count; i++) {
        const struct imported_weight *w = &m->weights.items[i];
        if (!x->wanted.weights[i])
            continue;
        if (w->sparse)
            add_message(x, &g->sparse_initializers, w->sparse);
        else if (w->tensor)
            add_message(x, &g->initializers, named_tensor(x, w->tensor, x->weight_names[i]));
        else
            data_initializer(x, &w->type, w->data, x->weight_names[i]);
    }
    for (size_t i = 0; i < x->initializers.count; i++)
        add_message(x, &g->initializers, x->initializers.items[i]);
}

// ---- the model ----

// A stable sort: nodes of one order stay as they were emitted.
static void sort_nodes(struct exporter *x, struct onnx_graph *g)
{
    g->nodes = (struct onnx_list){arena_array(x->arena, void *, x->nodes.count + 1), x->nodes.count};
    struct emitted *sorted = arena_array(x->arena, struct emitted, x->nodes.count + 1);
    size_t *first = arena_array(x->arena, size_t, x->graph->nodes.count + 3);
    for (size_t i = 0; i < x->nodes.count; i++)
        first[x->nodes.items[i].order + 1]++;
    for (size_t i = 1; i < x->graph->nodes.count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < x->nodes.count; i++)
        sorted[first[x->nodes.items[i].order]++] = x->nodes.items[i];
    for (size_t i = 0; i < x->nodes.count; i++)
        g->nodes.items[i] = sorted[i].node;
}

// Reports of values that are still there, among messages with the name of one at this offset.
static struct onnx_list said_of_defined(struct exporter *x, const struct onnx_list *all, size_t offset)
{
    struct onnx_list said = {0};
    for (size_t i = 0; i < all->count; i++) {
        const struct onnx_string *name = (const struct onnx_string *)((const char *)all->items[i] + offset);
        if (name->text && name_set_has(&x->names.values, name->text))
            add_message(x, &said, all->items[i]);
    }
    return said;
}

struct onnx_value_info *describe_tensor(struct arena *arena, struct onnx_string name, int64_t data_type, size_t rank,
                                        const int64_t *dims)
{
    struct onnx_value_info *info = arena_new(arena, struct onnx_value_info);
    struct onnx_tensor_type *tensor = arena_new(arena, struct onnx_tensor_type);
    struct onnx_shape *shape = tensor->shape = arena_new(arena, struct onnx_shape);
    info->name = name;
    info->type = arena_new(arena, struct onnx_type);
    info->type->tensor = tensor;
    tensor->elem_type = data_type;
    ONNX_SET(tensor, 1);
    shape->dimensions.items = arena_array(arena, void *, rank + 1);
    for (size_t i = 0; i < rank; i++) {
        struct onnx_dimension *d = shape->dimensions.items[shape->dimensions.count++] =
            arena_new(arena, struct onnx_dimension);
        d->value = dims[i];
        ONNX_SET(d, 1);
    }
    return info;
}

static bool is_declared_alone(const struct exporter *x, tensor_id tensor)
{
    const struct node *maker = graph_producer(x->graph, tensor);
    return (maker->op->flags & OPERATOR_IS_LEAF) || maker->op->id == OP_OPAQUE ||
           x->is_constant[x->graph->tensors.items[tensor].producer];
}

// The type that a tensor has at all sizes.
static struct onnx_value_info *declare_tensor(struct exporter *x, const char *name, const struct type *type)
{
    struct onnx_value_info *info = describe_tensor(x->arena, (struct onnx_string){name, strlen(name)},
                                                   dtype_to_onnx(type->dtype), (size_t)type->rank, type->dim);
    for (int i = 0; i < type->rank; i++)
        if (sizes_varies(&x->model->symbols.sizes, type->dim[i]))
            info->type->tensor->shape->dimensions.items[i] = arena_new(x->arena, struct onnx_dimension);
    return info;
}

static void add_names(struct key_set *names, const struct onnx_list *infos)
{
    for (size_t i = 0; i < infos->count; i++)
        name_set_add(names, ((const struct onnx_value_info *)infos->items[i])->name.text);
}

// A value that subgraphs refer to has its type declared: ONNX Runtime runs a Scan only where it knows the rank of all
// that is made in it, and of one node it may know the rank (Gemm) and not of what is written instead (MatMul).
static void declare_captured(struct exporter *x, struct onnx_graph *g)
{
    struct key_set declared FREED_BY(key_set_free) = {0};
    add_names(&declared, &g->value_infos);
    add_names(&declared, &g->outputs);
    for (node_id n = 0; n < x->graph->nodes.count; n++) {
        const struct node *node = &x->graph->nodes.items[n];
        const struct imported_opaque *o = x->wanted.nodes[n] && node->op->id == OP_OPAQUE ? opaque_of(x, node) : NULL;
        for (uint32_t i = 0; o && i < o->n_captured; i++) {
            tensor_id tensor = graph_inputs(x->graph, n)[o->n_inputs + i];
            if (!is_declared_alone(x, tensor) && name_set_add(&declared, o->captured[i]))
                add_message(x, &g->value_infos, declare_tensor(x, o->captured[i], graph_type(x->graph, tensor)));
        }
    }
}

static bool is_bound(const struct exporter *x, const struct onnx_dimension *declared, int64_t size)
{
    return !(declared && ONNX_HAS(declared, 1)) && !sizes_varies(&x->model->symbols.sizes, size);
}

// An input whose symbolic dimensions were bound has these sizes: the graph was made for them. Those that are left are
// as they were declared.
static struct onnx_value_info *with_bound_shape(struct exporter *x, struct onnx_value_info *info,
                                                const struct type *type)
{
    if (!type_is_known(type) || !info->type || !info->type->tensor)
        return info;
    const struct onnx_shape *old = info->type->tensor->shape;
    bool has_dimensions = old && old->dimensions.count == (size_t)type->rank, is_as_declared = has_dimensions;
    for (int i = 0; is_as_declared && i < type->rank; i++)
        is_as_declared = !is_bound(x, old->dimensions.items[i], type->dim[i]);
    if (is_as_declared)
        return info;
    struct onnx_value_info *bound =
        describe_tensor(x->arena, info->name, info->type->tensor->elem_type, (size_t)type->rank, type->dim);
    for (int i = 0; has_dimensions && i < type->rank; i++)
        if (!is_bound(x, old->dimensions.items[i], type->dim[i]))
            bound->type->tensor->shape->dimensions.items[i] = old->dimensions.items[i];
    bound->doc_string = info->doc_string;
    bound->metadata = info->metadata;
    return bound;
}

#define DEFAULTS_SINCE 4   // of ir_version: before it every initializer is an input, and a constant

// The model's inputs as they were, but for those that have initializers: something may have been computed from these,
// and who set them to something else would get neither.
static void write_inputs(struct exporter *x, struct onnx_graph *g)
{
    struct key_set declared FREED_BY(key_set_free) = {0}, initializers FREED_BY(key_set_free) = {0};
    struct onnx_list inputs = {0};
    bool has_defaults = x->model->file->model->ir_version >= DEFAULTS_SINCE;
    size_t next = 0;
    for (size_t i = 0; i < g->initializers.count; i++)
        name_set_add(&initializers, ((const struct onnx_tensor *)g->initializers.items[i])->name.text);
    for (size_t i = 0; i < g->inputs.count; i++) {
        struct onnx_value_info *info = g->inputs.items[i];
        const struct imported_value *input = next < x->model->inputs.count ? x->model->inputs.items + next : NULL;
        bool is_input = input && onnx_string_is(&info->name, input->name);
        if (is_input)
            info = with_bound_shape(x, info, graph_type(&x->model->graph, input->tensor));
        if (is_input || (!has_defaults && name_set_has(&initializers, info->name.text)))
            add_message(x, &inputs, info);
        next += is_input;
        name_set_add(&declared, info->name.text);
    }
    for (size_t i = 0; !has_defaults && i < g->initializers.count; i++) {
        const struct onnx_tensor *t = g->initializers.items[i];
        if (name_set_add(&declared, t->name.text))
            add_message(x, &inputs, describe_tensor(x->arena, t->name, t->data_type, t->dims.count, t->dims.items));
    }
    g->inputs = inputs;
}

// The model is written for inference: a program that trained it would find weights no more that were folded into
// others.
struct onnx_model *assemble_model(struct exporter *x)
{
    struct onnx_model *model = arena_new(x->arena, struct onnx_model);
    struct onnx_graph *g = arena_new(x->arena, struct onnx_graph);
    *model = *x->model->file->model;
    *g = *source_of(x);
    model->graph = g;
    model->training_infos = (struct onnx_list){0};
    write_initializers(x, g);
    name_made_nodes(x);
    sort_nodes(x, g);
    write_inputs(x, g);
    g->value_infos = said_of_defined(x, &g->value_infos, offsetof(struct onnx_value_info, name));
    declare_captured(x, g);
    g->annotations = said_of_defined(x, &g->annotations, offsetof(struct onnx_annotation, tensor_name));
    return model;
}
