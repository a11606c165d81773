// Label setting over an e-graph, which the greedy extractions and the bound by cuts are: a node is priced when all its
// child classes are settled, and the class of the cheapest priced node is settled next. Ties go to the lower node id.
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
