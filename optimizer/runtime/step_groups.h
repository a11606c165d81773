// Which nodes of a graph a runtime runs as one kernel, roughly, so that what they cost can be measured together:
//   - a convolution or matrix product with the element-wise chain behind it, and transpositions before a product;
//   - splits of splits, and concatenations of concatenations, which are one ONNX node;
//   - every other node alone.
// Broadcasts are left to whoever reads them; what depends on weights alone is done before the model runs.
#pragma once
#include "graph/graph.h"

struct step_groups {
    const struct graph *graph;
    bool *is_run;     // of every node: live, and depends on an input; no broadcast
    bool *varies;     // of every tensor: depends on an input
    uint32_t *uses;   // of every tensor: reads by live nodes, and outputs
    node_id *first;   // of every node: the first one of its group; NO_NODE for those that are not run
    node_id *next;    // of every node: the next one of its group, or NO_NODE
    struct arena *arena;
};
// Everything lives in `arena`.
void step_groups_find(struct step_groups *ret_groups, const struct graph *g, struct arena *arena);
bool step_groups_is_first(const struct step_groups *s, node_id n);
// The operator of the group that begins there: that of its anchor, or of its first node.
enum operator_id step_groups_kind(const struct step_groups *s, node_id first);
// The group that begins with the node, alone: what it reads are inputs and weights, numbered as they are met; what is
// read outside of it are outputs. Groups that are the same work give equal graphs (graph_print). `ret_weights`, with
// room for as many as the graph has tensors, has for each weight by its number the graph's tensor that it is, or
// NO_TENSOR for a part of one. In the arena.
void step_groups_extract(const struct step_groups *s, node_id first, struct graph *ret_graph, tensor_id *ret_weights);
