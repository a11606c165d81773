// Nodes stand behind what they read: one definition after the other is added.
#include "graph/compose.h"

#include "core/memory/arena.h"
#include "graph/graph_whole.h"

static bool compose_node(const struct graph *g, node_id n, struct composition *c, int *tensors, struct arena *scratch)
{
    const struct node *node = &g->nodes.items[n];
    struct definition d FREED_BY(definition_free) = {0};
    int *inputs = arena_array(scratch, int, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = tensors[graph_inputs(g, n)[i]];
    if (!node->op->define)
        return false;
    bool is_typed = graph_define(g, n, &d, scratch);
    if (is_typed)
        composition_add(c, &d, inputs, &tensors[node->first_output]);
    return is_typed;
}

bool graph_compose(const struct graph *g, struct composition *c, int *ret_tensors)
{
    ARENA(scratch);
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    bool is_composed = true;
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count && is_composed; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op->flags & OPERATOR_IS_LEAF)
            ret_tensors[node->first_output] = (int)node->attributes[0].ints[0];
        else if (live[n])
            is_composed = compose_node(g, n, c, ret_tensors, &scratch);
    }
    return is_composed;
}
