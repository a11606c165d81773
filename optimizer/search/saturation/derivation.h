// The applications of rules that lead from one choice of e-nodes to another one, read from the proof forest: what
// united them, what united the children that these applications found equal, and so on down.
#pragma once
#include "egraph/explore.h"

struct derivation {
    VEC(uint32_t) applications;   // of the exploration, in the order in which they were made
};
// Why what `choice` (of every class) makes of the outputs' classes is equal to the outputs. All unions are by rules.
void derivation_find(struct derivation *d, const struct exploration *x, const enode_id *choice, const enode_id *outputs,
                     size_t n_outputs);
void derivation_free(struct derivation *d);
