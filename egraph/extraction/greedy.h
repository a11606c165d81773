// Label setting over an e-graph (Knuth's generalization of Dijkstra's algorithm), and greedy extraction by it: a node
// is priced when all its child classes are settled, and the class of the cheapest priced node is settled next, so no
// cycle can arise. Ties go to the lower node id.
#pragma once
#include "egraph/extraction/problem.h"

struct label {
    double value;
    uint32_t node;
};
struct labels {
    const struct extraction_problem *problem;
    uint32_t *first_reader, *readers;   // nodes by child class, once for each time that they name it
    uint32_t *missing;                  // of each node: children that are not settled yet
    VEC(struct label) heap;
};
struct label_pricing {
    void *context;
    double (*price)(void *context, uint32_t node);   // not below what its children were settled at; INFINITY: not taken
    void (*settle)(void *context, uint32_t node, double label);   // of the node's class; called once a class
};
void labels_init(struct labels *l, const struct extraction_problem *p);
// May be repeated. ret_choice: n_classes items, the settling node of each class, EXTRACTION_NONE for those that cannot
// be built.
void labels_set(struct labels *l, const struct label_pricing *pricing, uint32_t *ret_choice);
void labels_free(struct labels *l);

// `ret_choice`: n_classes items, a valid selection and its cost, as from extraction_settle. False: some root cannot be
// built without a cycle or a node that may not be taken; what ret_choice then holds means nothing.
typedef bool greedy_fn(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
// Over trees (Tensat, Section 5.1): the label of a class is the cost of its cheapest tree, where what is shared counts
// each time. O(N log N).
greedy_fn extraction_greedy_tree;
// Over DAGs: what is shared below a node counts once, as each settled class keeps the set of classes with costs that it
// needs.
greedy_fn extraction_greedy_dag;
