// Which entries of the outputs stand for all others, and which entries of what they are made of they need.
//
// On an axis whose positions are only compared for equality (docs/theory/bounds.md, 2.1) both sides are the same
// formula of every position: permuting the positions of the whole class in all tensors permutes the entries of the
// outputs. So of entries whose coordinates differ by such a permutation all are equal on both sides or none is: one is
// enough.
#pragma once
#include "verifier/instances/instance.h"

// A byte for each entry: by pair of outputs, whether it is to be compared; by node and stage of its definition, whether
// it is to be computed.
struct needs {
    uint8_t *of_pair[MAX_RULE_OUTPUTS];
    uint8_t **of_node[MAX_RULE_NODES];
};
// False: nothing can be left out, or it is not worth it. `nodes` are those of the outputs.
bool representatives_find(struct instance *in, uint32_t pairs, node_set nodes, struct needs *ret_needs);
