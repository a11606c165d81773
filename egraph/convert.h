// Graphs into an e-graph, and a choice of e-nodes out of it as a graph.
#pragma once
#include "egraph/egraph.h"
#include "graph/graph.h"

// Adds the live nodes. ret_ids: of every tensor of the graph the e-node that is it; NO_ENODE for those that are not
// live.
void egraph_add_graph(struct egraph *e, const struct graph *g, enode_id *ret_ids);

// Origins of e-nodes, so that what is as it was in a graph is written as it was: the node there, and the value keys of
// its tensors, which all tensors of the class inherit.
struct egraph_origins {
    const struct graph *graph;
    VEC(node_id) node_of;       // of e-nodes, as far as there are: the graph's node; NO_NODE
    VEC(tensor_id) tensor_of;   // of e-nodes: a tensor of the graph; NO_TENSOR
};
void egraph_origins_init(struct egraph_origins *o, const struct egraph *e, const struct graph *g, const enode_id *ids);
void egraph_origins_free(struct egraph_origins *o);

// Builds the graph that takes `choice[c]` for every class c that the outputs need (canonical ids), in an initialised
// empty graph. The choice has no cycle. False: an application is ill-typed, which no chosen one should be.
bool egraph_build_graph(const struct egraph *e, const enode_id *choice, const struct egraph_origins *origins,
                        const enode_id *outputs, size_t n_outputs, struct graph *g);
