// Nodes of a graph as nodes of another one: how a part of a graph is taken out, whatever is to stand at its border.
#pragma once
#include "graph/graph.h"

struct graph_extraction {
    const struct graph *from;
    struct graph *to;
    void *context;
    tensor_id *moved;   // of every tensor of `from`: where it is in `to`, or NO_TENSOR. NULL: `find` and `note` know it
    // Finds a tensor that is read and `moved` does not have: a leaf that is made for it now. NULL: none is read.
    tensor_id (*find)(void *context, tensor_id tensor);
    void (*note)(void *context, tensor_id tensor, tensor_id there);   // an output of a node that was copied, or NULL
    // Adds what stands for a node; NO_NODE: it cannot be. NULL: graph_add_copy does.
    node_id (*add)(void *context, node_id node, const tensor_id *inputs);
};

void graph_extraction_clear(struct graph_extraction *x);   // nothing is moved
tensor_id graph_extract_tensor(const struct graph_extraction *x, tensor_id tensor);

// The node that was added for this one. `find` is asked of the second input first where `is_swapped` (of a commutative
// node): leaves are numbered as they are made.
node_id graph_extract_node(const struct graph_extraction *x, node_id node, bool is_swapped);
