// The function of a graph, as one composition of its operators' definitions.
#pragma once
#include "expressions/composition/composition.h"
#include "graph/graph.h"

// Adds the definitions of all nodes that outputs depend on. Leaf number k is the composition's input k. Gives the
// composition's tensor for each tensor of the graph that is needed. False: a node has no meaning.
bool graph_compose(const struct graph *g, struct composition *c, int *ret_tensors);
