// Weights stay in the file until a backend asks for them.
#include "optimizer/run/model_weights.h"

#include "core/memory/arena.h"
#include "graph/graph_whole.h"

static const void *acquire(void *context, size_t index, struct error *error)
{
    const void *data;
    return imported_weight_acquire(context, index, &data, error) ? data : NULL;
}

static void release(void *context, size_t index, const void *data)
{
    imported_weight_release(context, index, data);
}

struct weight_source model_weight_source(struct imported_model *m)
{
    return (struct weight_source){m, acquire, release};
}

const struct tensor_value *model_list_weights(struct imported_model *m, const struct graph *g)
{
    struct tensor_value *values = arena_array(&m->arena, struct tensor_value, m->weights.count + 1);
    LOCAL_ZEROS(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && g->nodes.items[n].op == operators[OP_WEIGHT])
            values[g->nodes.items[n].attributes[0].ints[0]].type = *graph_type(g, g->nodes.items[n].first_output);
    return values;
}
