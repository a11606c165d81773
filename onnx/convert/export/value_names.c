// Values of the old model keep their names; new ones get names that the old model has nowhere.
#include "onnx/convert/export/value_names.h"

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
    if (name && name[0] && name_set_add(&x->names.values, name))
        return name;
    return fresh_name(x, stem);
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
