// Weights of one model that are concatenations of weights, as merged operators read them: found by content, so that
// rules that take merged operators apart again have something to hold on to.
#ifndef VERIFIER_MODEL_CONCATENATIONS_H
#define VERIFIER_MODEL_CONCATENATIONS_H
#include "egraph/egraph.h"
#include "verifier/model/common.h"

#define MOST_PARTS 8
struct concatenation {
    tensor_id whole, parts[MOST_PARTS];   // of the common graph
    int n, axis;
};
typedef VEC(struct concatenation) concatenations;

// Of every weight that only one of the models has, along each axis: the largest weights that begin it, and so on.
void concatenations_find(const struct common_graph *c, const struct shared_classes *shared, concatenations *ret);
// Adds all nestings of concatenations of two. ids: of every tensor. To be followed by egraph_rebuild.
void concatenations_add(const concatenations *found, struct egraph *e, const enode_id *ids);
#endif
