// The cost of an e-node: alone, its inputs given; or behind what makes its first input, as much more as both cost than
// that alone, because backends fuse (a convolution with the addition behind it). Nodes that are known before the graph
// runs are nearly free. Equal operations on equal types are priced once.
//
// No cost is measured for this: those that are not known are estimated, by arithmetic and traffic,
// as known nodes of the same operator take them.
#pragma once
#include "egraph/egraph.h"
#include "optimizer/search/cost_model.h"
#include "optimizer/search/memo.h"

enum node_pricing { PRICED_ALONE, PRICED_BEHIND, NODE_PRICINGS };

#define ALL_OPERATORS OP_COUNT
struct known_seconds {   // of several nodes, and what arithmetic and traffic alone would take
    double seconds, roofline;
};
struct node_costs {
    const struct egraph *e;
    const struct cost_model *cost;
    struct memo memo;   // NaN: not known
    struct encoding words;
    struct arena arena;
    struct known_seconds known[OP_COUNT + 1];   // by operator, and of all
};
void node_costs_init(struct node_costs *n, const struct egraph *e, const struct cost_model *cost);
void node_costs_free(struct node_costs *n);
// Seconds; infinity: the device cannot run it.
double node_costs_find(struct node_costs *n, enode_id node, enum node_pricing pricing);
// E-nodes that are not known: equal ones have an equal number; 0: it is known, or takes no time of its own.
uint64_t node_costs_unknown(struct node_costs *n, enode_id node);
