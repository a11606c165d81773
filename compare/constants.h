// Constants: e-nodes that depend on weights alone are computed, and those with equal values are one class.
//
// Values are equal bit for bit, unless one of them was computed with arithmetic, by rules or at import: who folded the
// other may have rounded on another way. Then each entry may differ by a few roundings of itself and of the largest one
// (constants.c), and how far any did is told.
#pragma once
#include "compare/common_graph.h"
#include "egraph/egraph.h"

struct constant {
    struct tensor_value value;   // without data: it is not known
    double largest;              // entry, once it was asked for
    bool is_measured, is_rounded, is_tried;
    bool is_compared;   // with the others
};
struct constants {
    struct common_graph *c;
    struct arena arena;
    struct constant *of_tensors;    // of the common graph: those of the models are computed once
    double spent_on_models;         // operations, entries that are copied counting as one
    size_t n_computed, n_rounded;   // the latter: pairs that are equal but for rounding
    double largest_rounding;        // of these, as a share of the largest entry
    // of one e-graph
    struct egraph *e;
    const enode_id *ids;   // of every tensor of the common graph
    size_t n_of_models;    // e-nodes, which stand before those that rules made
    struct arena values, scratch;
    VEC(struct constant) of_nodes;
    VEC(enode_id) known;   // e-nodes with values that others are compared with
    double spent_on_rules, most_of_rules;
};
void constants_init(struct constants *k, struct common_graph *c);
void constants_free(struct constants *k);
// A round of one e-graph.
void constants_begin(struct constants *k, struct egraph *e, const enode_id *ids);
void constants_end(struct constants *k);
// Computes what was not tried yet and has the type of a constant that only one of the models has, or of a part of one.
// Needs a clean e-graph, and leaves one. False: nothing was joined.
bool constants_join(struct constants *k, const struct shared_classes *shared);

static inline enode_id constants_oldest_node(const struct egraph *e, eclass_id c)
{
    enode_id oldest = NO_ENODE;
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
        oldest = n < oldest ? n : oldest;
    return oldest;
}

// A constant of the class with a value; NULL: none has one yet.
static inline struct constant *constants_find_known(const struct constants *k, eclass_id c)
{
    for (enode_id n = egraph_first_node(k->e, c); n != NO_ENODE; n = egraph_next_node(k->e, c, n))
        if (n < k->of_nodes.count && k->of_nodes.items[n].value.data)
            return &k->of_nodes.items[n];
    return NULL;
}
