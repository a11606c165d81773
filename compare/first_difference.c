// Layer by layer in the order of the graph.
#include "compare/first_difference.h"

#include "core/memory/memory.h"
#include "graph/graph_whole.h"

// Which nodes of a model lead to an output that is not known to be equal, by tensors that the other model has not.
static void mark_open_nodes(const struct common_graph *c, const struct shared_classes *shared, int side, bool *is_open)
{
    const struct graph *g = &c->graph;
    for (size_t i = 0; i < c->n_outputs; i++)
        if (!common_tensors_are_equal(c, c->sides[0].outputs[i], c->sides[1].outputs[i]))
            is_open[g->tensors.items[c->sides[side].outputs[i]].producer] = true;
    for (node_id n = (node_id)c->n_nodes; n-- > 0;)
        for (uint32_t i = 0; is_open[n] && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            is_open[g->tensors.items[t].producer] = is_open[g->tensors.items[t].producer] || !shared->is_shared[t];
        }
}

// A node that depends on weights alone is no layer, but belongs to the one that reads it.
static node_id find_first_layer(const struct common_graph *c, const struct shared_classes *shared, const bool *is_open)
{
    const struct graph *g = &c->graph;
    LOCAL_ARRAY(bool, is_constant, g->nodes.count + 1);
    graph_mark_constant(g, is_constant);
    for (node_id n = 0; n < c->n_nodes; n++) {
        bool is_first = is_open[n] && !is_constant[n];
        for (uint32_t i = 0; is_first && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            is_first = shared->is_shared[t] || is_constant[g->tensors.items[t].producer];
        }
        if (is_first)
            return n;
    }
    return NO_NODE;
}

static node_id find_reader(const struct common_graph *c, int side, node_id of)
{
    const struct graph *g = &c->graph;
    for (node_id n = of + 1; n < c->n_nodes; n++)
        for (uint32_t i = 0; c->sides[side].is_live[n] && i < g->nodes.items[n].n_inputs; i++)
            if (g->tensors.items[graph_inputs(g, n)[i]].producer == of)
                return n;
    return NO_NODE;
}

struct first_difference common_graph_find_difference(const struct common_graph *c, const struct shared_classes *shared,
                                                     int side)
{
    const struct graph *g = &c->graph;
    LOCAL_ZEROS(bool, is_open, c->n_nodes + 1);
    mark_open_nodes(c, shared, side, is_open);
    struct first_difference d = {.layer = find_first_layer(c, shared, is_open)};
    for (node_id n = d.layer; n != NO_NODE && !d.name; n = find_reader(c, side, n))
        d.name = common_graph_name(c, side, g->nodes.items[n].first_output);
    return d;
}
