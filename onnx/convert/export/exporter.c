// The names of the new model, and its nodes, attributes and initializers. Values of the old model keep their names; new
// ones get names that the old model has nowhere.
#include "onnx/convert/export/exporter.h"

#include "core/text/error.h"
#include "expressions/elements.h"
#include "onnx/convert/fold_constants.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool name_set_has(const struct key_set *s, const char *name)
{
    return key_set_find(s, name, strlen(name)) != KEY_NONE;
}

bool name_set_add(struct key_set *s, const char *name)
{
    size_t count = s->keys.count;
    return key_set_add(s, NULL, name, strlen(name)) == count;
}

// ---- the old model's names ----

static void collect_strings(struct exporter *x, const struct onnx_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        name_set_add(&x->names.original, strings->items[i].text);
}

// Names of all messages of one type, at this offset in each.
static void collect_names(struct exporter *x, const struct onnx_descriptor *type, size_t offset)
{
    LOCAL_LIST(message_list, messages);
    onnx_list_messages(&onnx_model_descriptor, x->model->file->model, type, &messages);
    for (size_t i = 0; i < messages.count; i++) {
        const struct onnx_string *name = (const struct onnx_string *)((const char *)messages.items[i] + offset);
        if (name->size)
            name_set_add(&x->names.original, name->text);
    }
}

void collect_original_names(struct exporter *x)
{
    LOCAL_LIST(message_list, nodes);
    onnx_list_messages(&onnx_model_descriptor, x->model->file->model, &onnx_node_descriptor, &nodes);
    for (size_t i = 0; i < nodes.count; i++) {
        collect_strings(x, &((const struct onnx_node *)nodes.items[i])->inputs);
        collect_strings(x, &((const struct onnx_node *)nodes.items[i])->outputs);
    }
    collect_names(x, &onnx_tensor_descriptor, offsetof(struct onnx_tensor, name));
    collect_names(x, &onnx_value_info_descriptor, offsetof(struct onnx_value_info, name));
}

// ---- new names ----

// The first number of a stem that was not tried: names stay taken.
static unsigned *next_number(struct exporter *x, const char *stem)
{
    uint32_t number = key_set_add(&x->names.stems, NULL, stem, strlen(stem));
    if (number == x->names.stem_numbers.count)
        vec_push(&x->names.stem_numbers, 0);
    return &x->names.stem_numbers.items[number];
}

const char *fresh_name(struct exporter *x, const char *stem)
{
    for (unsigned *next = next_number(x, stem);;) {
        struct arena_mark mark = arena_mark(x->arena);
        const char *name = arena_printf(x->arena, "%s_%u", stem, (*next)++);
        if (!name_set_has(&x->names.original, name) && name_set_add(&x->names.values, name))
            return name;
        arena_release(x->arena, mark);
    }
}

// The old name when it is free, else a fresh one.
static const char *claim(struct exporter *x, const char *name, const char *stem)
{
    return name && name[0] && name_set_add(&x->names.values, name) ? name : fresh_name(x, stem);
}

const char *name_of_weight(struct exporter *x, size_t index)
{
    x->wanted.weights[index] = true;
    if (!x->weight_names[index])
        x->weight_names[index] = claim(x, x->model->weights.items[index].name, "constant");
    return x->weight_names[index];
}

const char *name_of(struct exporter *x, tensor_id tensor)
{
    const struct tensor *t = &x->graph->tensors.items[tensor];
    const struct node *producer = &x->graph->nodes.items[t->producer];
    if (producer->op->id == OP_WEIGHT)
        return name_of_weight(x, (size_t)producer->attributes[0].ints[0]);
    x->wanted.tensors[tensor] = true;
    if (!x->tensor_names[tensor]) {
        const struct imported_origin *origin = imported_model_find_origin(x->model, t->value);
        x->tensor_names[tensor] = claim(x, origin ? origin->name : NULL, producer->op->name);
    }
    return x->tensor_names[tensor];
}

// ---- nodes ----

static struct onnx_string text_of(struct exporter *x, const char *text)
{
    return (struct onnx_string){arena_string(x->arena, text), strlen(text)};
}

const char *cannot_export(struct exporter *x, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!x->failed)
        error_set_code(x->error, EXIT_UNSUPPORTED, x->model->file->path, "%s", message);
    x->failed = true;
    return NULL;
}

static void push_string(struct exporter *x, struct onnx_strings *list, const char *text)
{
    struct onnx_string *items = arena_array(x->arena, struct onnx_string, list->count + 1);
    if (list->count)
        memcpy(items, list->items, list->count * sizeof *items);
    items[list->count] = text_of(x, text);
    *list = (struct onnx_strings){items, list->count + 1};
}

struct onnx_node *emit(struct exporter *x, const char *op_type, uint32_t n_inputs, const char *const *inputs,
                       const char *output)
{
    struct onnx_node *n = arena_new(x->arena, struct onnx_node);
    n->op_type = text_of(x, op_type);
    for (uint32_t i = 0; i < n_inputs; i++)
        push_string(x, &n->inputs, inputs[i] ? inputs[i] : "");
    if (output)
        push_string(x, &n->outputs, output);
    vec_push(&x->nodes, ((struct emitted){.order = x->current, .node = n, .is_made = true}));
    return n;
}

void add_output(struct exporter *x, struct onnx_node *n, const char *name)
{
    push_string(x, &n->outputs, name);
}

const struct onnx_graph *source_of(const struct exporter *x)
{
    return x->model->file->model->graph;
}

const struct onnx_node *source_node(const struct exporter *x, uint32_t index)
{
    return source_of(x)->nodes.items[index];
}

struct onnx_node *copy_node(struct exporter *x, uint32_t index)
{
    struct onnx_node *copy = arena_new(x->arena, struct onnx_node);
    const struct onnx_node *n = source_node(x, index);
    *copy = *n;
    copy->inputs.items = arena_array(x->arena, struct onnx_string, n->inputs.count + 1);
    for (size_t i = 0; i < n->inputs.count; i++)
        copy->inputs.items[i] = n->inputs.items[i];
    copy->outputs.items = arena_copy_array(x->arena, n->outputs.items, n->outputs.count);
    if (n->name.size)
        name_set_add(&x->names.nodes, n->name.text);
    vec_push(&x->nodes, ((struct emitted){.order = x->current, .node = copy}));
    return copy;
}

void set_name(struct onnx_string *s, const char *name)
{
    *s = (struct onnx_string){name, strlen(name)};
}

// ---- attributes ----

// A list that is full has a power of two of messages, or none.
void add_message(struct exporter *x, struct onnx_list *list, const void *message)
{
    size_t n = list->count;
    if ((n & (n - 1)) == 0) {
        void **items = arena_array(x->arena, void *, n ? 2 * n : 1);
        if (n)
            memcpy(items, list->items, n * sizeof *items);
        list->items = items;
    }
    list->items[list->count++] = (void *)(uintptr_t)message;
}

static struct onnx_attribute *add_attribute(struct exporter *x, struct onnx_node *n, const char *name,
                                            enum onnx_attribute_type type)
{
    struct onnx_attribute *a = arena_new(x->arena, struct onnx_attribute);
    add_message(x, &n->attributes, a);
    a->name = text_of(x, name);
    a->type = type;
    return a;
}

void set_int_attribute(struct exporter *x, struct onnx_node *n, const char *name, int64_t value)
{
    struct onnx_attribute *a = add_attribute(x, n, name, ONNX_ATTRIBUTE_INT);
    a->i = value;
    ONNX_SET(a, 3);
}

void set_float_attribute(struct exporter *x, struct onnx_node *n, const char *name, double value)
{
    struct onnx_attribute *a = add_attribute(x, n, name, ONNX_ATTRIBUTE_FLOAT);
    a->f = (float)value;
    ONNX_SET(a, 2);
}

void set_text_attribute(struct exporter *x, struct onnx_node *n, const char *name, const char *value)
{
    struct onnx_attribute *a = add_attribute(x, n, name, ONNX_ATTRIBUTE_STRING);
    struct onnx_string text = text_of(x, value);
    a->s = (struct onnx_bytes){(const uint8_t *)text.text, text.size};
}

void set_ints_attribute(struct exporter *x, struct onnx_node *n, const char *name, uint32_t count,
                        const int64_t *values)
{
    struct onnx_attribute *a = add_attribute(x, n, name, ONNX_ATTRIBUTE_INTS);
    a->ints.items = arena_array(x->arena, int64_t, count + 1);
    a->ints.count = count;
    if (count)
        memcpy(a->ints.items, values, count * sizeof *values);
}

// ---- initializers ----

static struct onnx_tensor *new_tensor(struct exporter *x, const struct type *type, const void *data)
{
    struct onnx_tensor *t = arena_new(x->arena, struct onnx_tensor);
    t->dims.items = arena_copy_array(x->arena, type->dim, type->rank);
    t->dims.count = (size_t)type->rank;
    t->data_type = dtype_to_onnx(type->dtype);
    t->raw_data = (struct onnx_bytes){data, type_bytes(type)};
    return t;
}

static bool is_same_tensor(const struct onnx_tensor *a, const struct onnx_tensor *b)
{
    return a->data_type == b->data_type && a->dims.count == b->dims.count && a->raw_data.size == b->raw_data.size &&
           (!a->dims.count || memcmp(a->dims.items, b->dims.items, a->dims.count * sizeof *a->dims.items) == 0) &&
           memcmp(a->raw_data.at, b->raw_data.at, a->raw_data.size) == 0;
}

#define SMALL_TENSOR 64   // bytes up to which equal new initializers are shared

static const char *add_initializer(struct exporter *x, struct onnx_tensor *t, const char *name)
{
    for (size_t i = 0; !name && t->raw_data.size <= SMALL_TENSOR && i < x->initializers.count; i++)
        if (is_same_tensor(x->initializers.items[i], t))
            return x->initializers.items[i]->name.text;
    t->name = text_of(x, name ? name : fresh_name(x, "constant"));
    vec_push(&x->initializers, t);
    return t->name.text;
}

const char *int_initializer(struct exporter *x, int rank, const int64_t *dim, const int64_t *values)
{
    struct type type = type_make(DTYPE_I64, rank, dim);
    size_t size = type_bytes(&type);
    int64_t *data = arena_array(x->arena, int64_t, size / sizeof *data + 1);
    if (size)
        memcpy(data, values, size);
    return add_initializer(x, new_tensor(x, &type, data), NULL);
}

const char *real_initializer(struct exporter *x, enum dtype dtype, double value)
{
    struct type type = type_make(dtype, 0, NULL);
    uint8_t *data = arena_alloc_zero(x->arena, 8, 8);
    elements_from_reals(dtype, &value, 1, data);
    return add_initializer(x, new_tensor(x, &type, data), NULL);
}

const char *data_initializer(struct exporter *x, const struct type *type, const void *data, const char *name)
{
    return add_initializer(x, new_tensor(x, type, data), name);
}

#define WORTH_DEFERRING 65536   // bytes from which on a constant is computed when it is written

struct constant_to_compute {
    struct onnx_deferred deferred;
    struct imported_model *model;
    const struct graph *graph;
    tensor_id tensor;
};

static const void *compute(void *context, struct arena *arena, struct error *error)
{
    const struct constant_to_compute *c = context;
    const void *data = evaluate_constant(c->model, c->graph, c->tensor, arena);
    if (!data)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "a constant cannot be computed");
    return data;
}

static const char *deferred_initializer(struct exporter *x, tensor_id tensor, const struct type *type, const char *name)
{
    struct constant_to_compute *c = arena_new(x->arena, struct constant_to_compute);
    *c = (struct constant_to_compute){{compute, c}, x->model, x->graph, tensor};
    struct onnx_tensor *t = new_tensor(x, type, c);
    t->deferred = &c->deferred;
    return add_initializer(x, t, name);
}

const char *computed_initializer(struct exporter *x, tensor_id tensor, int rank, const int64_t *dim, const char *name)
{
    struct type type = type_make(graph_type(x->graph, tensor)->dtype, rank, dim);
    if (type_bytes(&type) >= WORTH_DEFERRING)
        return deferred_initializer(x, tensor, &type, name);
    const void *data = evaluate_constant(x->model, x->graph, tensor, x->arena);
    return data ? data_initializer(x, &type, data, name) : cannot_export(x, "a constant cannot be computed");
}

// ---- names ----

// The name of the node that it came from, if that had one and nobody has it.
static bool takes_name_of_origin(struct exporter *x, struct onnx_node *made, uint32_t origin)
{
    if (origin >= source_of(x)->nodes.count)
        return false;
    const struct onnx_node *source = source_node(x, origin);
    if (!source->name.size || !onnx_string_is(&source->op_type, made->op_type.text) ||
        !name_set_add(&x->names.nodes, source->name.text))
        return false;
    made->name = source->name;
    return true;
}

// A node is named by what it makes, as values have one name each.
static void name_by_output(struct exporter *x, struct onnx_node *made)
{
    const char *output = made->outputs.count ? made->outputs.items[0].text : "";
    const char *name = arena_printf(x->arena, "taso/%s/%s", made->op_type.text, output);
    if (name_set_add(&x->names.nodes, name))
        set_name(&made->name, name);
}

static void tell_rule(struct exporter *x, struct onnx_node *made, uint32_t origin)
{
    uint32_t number = origin & ~ORIGIN_OF_RULES;
    if (origin < ORIGIN_OF_RULES || number >= x->model->n_rule_names)
        return;
    struct onnx_entry *entry = arena_new(x->arena, struct onnx_entry);
    set_name(&entry->key, "taso.rule");
    set_name(&entry->value, x->model->rule_names[number]);
    add_message(x, &made->metadata, entry);
}

void name_made_nodes(struct exporter *x)
{
    vec_each(&x->nodes, e) {
        uint32_t origin = e->order < x->graph->nodes.count ? x->graph->nodes.items[e->order].origin : NO_ORIGIN;
        if (!e->is_made)
            continue;
        if (!takes_name_of_origin(x, e->node, origin))
            name_by_output(x, e->node);
        tell_rule(x, e->node, origin);
    }
}
