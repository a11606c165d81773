// Label setting over an e-graph, which both greedy extractions are: a node is priced when all its child
// classes are settled, and the class of the cheapest priced node is settled next. Ties go to the lower node id.
#ifndef EGRAPH_EXTRACTION_LABELS_H
#define EGRAPH_EXTRACTION_LABELS_H
#include <stdint.h>

struct extraction_problem;

struct label_pricing {
    void *context;
    double (*price)(void *context, uint32_t node);                    // not below what its children were settled at
    void (*settle)(void *context, uint32_t node, double label);       // of the node's class; called once a class
};
// ret_choice: n_classes items, the settling node of each class, EXTRACTION_NONE for those that cannot be built.
void labels_set(const struct extraction_problem *p, const struct label_pricing *pricing, uint32_t *ret_choice);
#endif
