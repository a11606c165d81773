// A tensor is counted where something that is not known before the graph runs reads it.
#include "optimizer/search/weight_bytes.h"

#include "core/memory/memory.h"
#include "graph/graph_whole.h"
#include "optimizer/search/repeated_weight.h"

static size_t distinct_bytes(const struct graph *g, tensor_id t)
{
    const struct type *type = graph_type(g, t);
    unsigned repeated = tensor_repeated_axes(g, t);
    size_t bytes = type_bytes(type);
    for (int i = 0; i < type->rank; i++)
        if (repeated >> i & 1 && type->dim[i] > 0)
            bytes /= (size_t)type->dim[i];
    return bytes;
}

static size_t count_once(const struct graph *g, tensor_id t, bool *is_counted)
{
    bool is_first = !is_counted[t];
    is_counted[t] = true;
    return is_first ? distinct_bytes(g, t) : 0;
}

size_t graph_weight_bytes(const struct graph *g)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ARRAY(bool, is_weight, g->nodes.count + 1);
    LOCAL_ZEROS(bool, is_counted, g->tensors.count + 1);
    size_t bytes = 0;
    graph_mark_live(g, live);
    graph_mark_constant(g, is_weight);
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; live[n] && !is_weight[n] && i < g->nodes.items[n].n_inputs; i++)
            if (is_weight[g->tensors.items[graph_inputs(g, n)[i]].producer])
                bytes = mem_sum(bytes, count_once(g, graph_inputs(g, n)[i], is_counted));
    for (size_t i = 0; i < g->outputs.count; i++)
        if (is_weight[g->tensors.items[g->outputs.items[i]].producer])
            bytes = mem_sum(bytes, count_once(g, g->outputs.items[i], is_counted));
    return bytes;
}
