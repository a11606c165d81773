// Constants that rules made: e-nodes that depend on weights alone are computed, and joined with a weight of the models
// that has the same elements, bit for bit.
#ifndef VERIFIER_MODEL_CONSTANTS_H
#define VERIFIER_MODEL_CONSTANTS_H
#include "egraph/egraph.h"
#include "verifier/model/common.h"

struct constants {
    struct common_graph *c;
    struct egraph *e;
    const enode_id *ids;   // of every tensor of the common graph
    struct arena scratch;
    VEC(bool) is_tried;   // of e-nodes: was it computed before?
    double operations;    // spent so far: at most 3e7, entries that are copied counting as one
    size_t n_computed;
};
void constants_init(struct constants *k, struct common_graph *c, struct egraph *e, const enode_id *ids);
void constants_free(struct constants *k);
// Computes what was not tried yet and has the type of a weight that only one of the models has. Needs a clean e-graph,
// and leaves one. False: nothing was joined.
bool constants_join(struct constants *k, const struct shared_classes *shared);
#endif
