// Weights at the border of a part of a graph. The part reads a tensor of weights as a leaf, but what it costs to read
// one that is a few numbers, broadcast, is not what it costs to read them all: the leaf's index says along which axes.
#pragma once
#include "graph/graph.h"
#include "operators/traits.h"

#define REPEATED_AXES_SHIFT 40   // of a leaf's index; numbers stay below

// Bit i: the tensor, which depends on weights alone, has the same entries all along axis i.
static inline unsigned tensor_repeated_axes(const struct graph *g, tensor_id t)
{
    const struct node *producer = graph_producer(g, t);
    unsigned axes = 0;
    if (producer->op->id == OP_WEIGHT)
        return (unsigned)(producer->attributes[0].ints[0] >> REPEATED_AXES_SHIFT);
    if (!operator_repeats(producer->op))
        return 0;
    const struct type *x = graph_type(g, graph_inputs(g, g->tensors.items[t].producer)[0]), *z = graph_type(g, t);
    int added = z->rank - x->rank;
    for (int i = 0; i < z->rank; i++)
        if (i < added || (x->dim[i - added] == 1 && z->dim[i] != 1))
            axes |= 1u << i;
    return axes;
}

static inline int64_t repeated_weight_index(int64_t number, unsigned axes)
{
    return number | (int64_t)axes << REPEATED_AXES_SHIFT;
}
