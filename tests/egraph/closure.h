// Congruence closure by looking at all pairs of nodes, which the deferred rebuild is compared with.
#pragma once
#include "egraph/egraph.h"

enum { CLOSURE_MOST_NODES = 480 };
struct closure {
    const struct egraph *e;
    size_t n_nodes;
    eclass_id of[CLOSURE_MOST_NODES];
};
void closure_init(struct closure *c, const struct egraph *e);
void closure_add_new(struct closure *c);   // the nodes that the e-graph has got since
void closure_unite(struct closure *c, enode_id x, enode_id y);
void closure_close(struct closure *c);
// Are the classes of the e-graph the same? False: two nodes about which they differ.
bool closure_agrees(const struct closure *c, enode_id *ret_x, enode_id *ret_y);
