// Layer by layer in the order of the graph.
#include "compare/first_difference.h"

#include "core/memory/memory.h"

// Which nodes of a model lead to an output that is not known to be equal, by tensors that the other model has not.
static bool *mark_open_nodes(const struct common_graph *c, const struct shared_classes *shared, int side)
{
    const struct graph *g = &c->graph;
    bool *is_open = mem_alloc_zero(c->n_nodes + 1);
    for (size_t i = 0; i < c->n_outputs; i++)
        if (!common_tensors_are_equal(c, c->sides[0].outputs[i], c->sides[1].outputs[i]))
            is_open[g->tensors.items[c->sides[side].outputs[i]].producer] = true;
    for (node_id n = (node_id)c->n_nodes; n-- > 0;)
        for (uint32_t i = 0; is_open[n] && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            is_open[g->tensors.items[t].producer] = is_open[g->tensors.items[t].producer] || !shared->is_shared[t];
        }
    return is_open;
}

// What depends on weights alone is no layer, but belongs to the one that reads it.
static bool *mark_constants(const struct common_graph *c)
{
    const struct graph *g = &c->graph;
    bool *is_constant = mem_alloc_zero(c->n_nodes + 1);
    for (node_id n = 0; n < c->n_nodes; n++) {
        const struct operator* op = g->nodes.items[n].op;
        is_constant[n] = op->flags & OPERATOR_IS_LEAF ? op->id == OP_WEIGHT : !(op->flags & OPERATOR_IS_OPAQUE);
        for (uint32_t i = 0; i < g->nodes.items[n].n_inputs; i++)
            is_constant[n] = is_constant[n] && is_constant[g->tensors.items[graph_inputs(g, n)[i]].producer];
    }
    return is_constant;
}

static node_id find_first_layer(const struct common_graph *c, const struct shared_classes *shared, const bool *is_open)
{
    const struct graph *g = &c->graph;
    bool *is_constant = mark_constants(c);
    node_id found = NO_NODE;
    for (node_id n = 0; found == NO_NODE && n < c->n_nodes; n++) {
        bool is_first = is_open[n] && !is_constant[n];
        for (uint32_t i = 0; is_first && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            is_first = shared->is_shared[t] || is_constant[g->tensors.items[t].producer];
        }
        found = is_first ? n : NO_NODE;
    }
    mem_free(is_constant, c->n_nodes + 1);
    return found;
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
    bool *is_open = mark_open_nodes(c, shared, side);
    struct first_difference d = {.layer = find_first_layer(c, shared, is_open)};
    for (node_id n = d.layer; n != NO_NODE && !d.name; n = find_reader(c, side, n))
        d.name = common_graph_name(c, side, g->nodes.items[n].first_output);
    mem_free(is_open, c->n_nodes + 1);
    return d;
}
