// Nodes of a graph as nodes of another one: how a part of a graph is taken out, whatever is to stand at its border.
#ifndef GRAPH_EXTRACT_H
#define GRAPH_EXTRACT_H
#include "graph/graph.h"

struct graph_extraction {
    const struct graph *from;
    struct graph *to;
    // Where a tensor of `from` that a node reads is in `to`: noted before, or a leaf that is made for it now.
    tensor_id (*find)(void *context, tensor_id tensor);
    void (*note)(void *context, tensor_id tensor, tensor_id there);   // an output of a node that was copied
    void *context;
};

// As graph_add_copy, over what `find` says of the inputs. It is asked of the second input first where `is_swapped` (of
// a commutative node): leaves are numbered as they are made.
node_id graph_extract_node(const struct graph_extraction *x, node_id node, bool is_swapped);
#endif
