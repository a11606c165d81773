// A region: the part of a graph around a match, as a graph of its own, in which chains of rewrites can be tried at a
// cost that does not depend on the size of the whole.
//
// Its leaves stand for the tensors that it reads, numbered in the order in which they are met, and its value keys are
// made anew: so equal parts of a model, whatever their history, give equal regions (graph_equal).
#pragma once
#include "substitutions/match.h"

// The place of a region in a graph.
struct site {
    uint32_t number;          // the owner's
    VEC(tensor_id) tensors;   // of every tensor of the region: which one it is there
    VEC(node_id) members;     // the nodes there, leaves left out
};
void site_free(struct site *s);

// A region of at most about `max_nodes` nodes around the match, the nearest first. `ret_region` is initialised here in
// `arena`; `ret_match` is the match in it.
void region_extract(const struct match_index *index, const struct match *m, size_t max_nodes, struct arena *arena,
                    struct graph *ret_region, struct site *ret_site, struct match *ret_match);

// Equal regions may list their nodes in another order. Renumbers the site and the match of `region` as `known` has
// them. False, and both are as they were: the regions are not equal.
bool region_renumber(const struct graph *known, const struct graph *region, struct site *s, struct match *m);
// Does this very region stand at the site: each node's operation, on the tensors that the site has for what it reads?
bool region_is_at(const struct graph *region, const struct site *s, const struct graph *g);

// The result of rewriting a region. `stands_for` tells of every tensor which one of the region it is or replaced
// (NO_TENSOR: none).
struct rewritten {
    const struct graph *region, *graph;
    const tensor_id *stands_for;
};
// The node of the region that this is: the same operation on tensors that stand for what it reads. NO_NODE: none.
node_id rewritten_node_of_region(const struct rewritten *r, node_id n);
// Adds what is new in it to the graph that holds the site. Gives the tensors there that are to be replaced, at most one
// for every tensor of the region. False: ill-typed there, or the region is not what stands at the site.
bool region_graft(const struct rewritten *r, const struct site *s, struct graph *g, size_t *ret_count,
                  tensor_id *ret_old, tensor_id *ret_new);
// The nodes at the site that the rewrite takes away, at most one for every node of the region. Gives their number.
size_t region_list_replaced(const struct rewritten *r, const struct site *s, const struct graph *g, node_id *ret_nodes);
// Marks the nodes at the site that the rewrite takes away. False (nothing marked): one is marked already.
bool region_claim(const struct rewritten *r, const struct site *s, const struct graph *g, bool *claimed);
