// Names are numbers between marks that no other name has; kernels in blocks of channels are called by their values.
#include "optimizer/runtime/numbered_nodes.h"

#include "core/memory/arena.h"
#include "onnx/convert/export/read_back.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERED "taso#"     // and the node's number, and #
#define OF_BLOCKS "_nchwc"   // behind the name of a value: a kernel whose tensors are in blocks of channels makes it

static uint64_t value_of_name(const struct exported_types *types, const char *name)
{
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(types->items[i].name, name) == 0)
            return types->items[i].value;
    return 0;
}

// Copies: what is kept of the original is the file's.
static void number_nodes(struct onnx_model *model, struct arena *arena)
{
    struct onnx_list *nodes = &model->graph->nodes;
    void **copies = arena_array(arena, void *, nodes->count + 1);
    for (size_t i = 0; i < nodes->count; i++) {
        struct onnx_node *copy = arena_copy(arena, nodes->items[i], sizeof *copy, _Alignof(struct onnx_node));
        const char *name = arena_printf(arena, NUMBERED "%zu#", i);
        copy->name = (struct onnx_string){name, strlen(name)};
        copies[i] = copy;
    }
    nodes->items = copies;
}

// A node whose values the graph does not have is a part of the next one that has some.
static void list_values(struct numbered_nodes *f, const struct onnx_model *model, const struct exported_types *types,
                        struct arena *arena)
{
    uint64_t next = 0;
    f->count = model->graph->nodes.count;
    f->values = arena_array(arena, uint64_t, f->count + 1);
    for (size_t i = f->count; i-- > 0;) {
        const struct onnx_node *node = model->graph->nodes.items[i];
        uint64_t own = 0;
        vec_each(&node->outputs, output) {
            own = own || !output->size ? own : value_of_name(types, output->text);
            if (output->size && key_set_add(&f->names, arena, output->text, output->size) == f->makers.count)
                vec_push(&f->makers, i);
        }
        next = own ? own : next;
        f->values[i] = next;
    }
}

void numbered_nodes_make(struct numbered_nodes *ret_nodes, struct onnx_model *model, const struct exported_types *types,
                         struct arena *arena)
{
    *ret_nodes = (struct numbered_nodes){.count = 0};
    list_values(ret_nodes, model, types, arena);
    number_nodes(model, arena);
}

size_t numbered_nodes_find(const struct numbered_nodes *nodes, const char *kernel)
{
    const char *number = strstr(kernel, NUMBERED), *blocks = strstr(kernel, OF_BLOCKS);
    if (number) {
        size_t node = strtoul(number + sizeof NUMBERED - 1, NULL, 10);
        return node < nodes->count ? node : SIZE_MAX;
    }
    uint32_t value = blocks ? key_set_find(&nodes->names, kernel, (size_t)(blocks - kernel)) : KEY_NONE;
    return value == KEY_NONE ? SIZE_MAX : nodes->makers.items[value];
}

void numbered_nodes_free(struct numbered_nodes *nodes)
{
    key_set_free(&nodes->names);
    vec_free(&nodes->makers);
}
