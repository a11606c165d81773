// E-graphs of a few operators on four inputs of one type, which grow node by node.
#pragma once
#include "egraph/egraph.h"

enum { GROWN_OPERATORS = 4 };
struct grown {
    struct egraph e;
    uint32_t tensor, tuple;   // types
    VEC(enode_id) tensors;
};
void grown_init(struct grown *g);   // with its inputs
void grown_free(struct grown *g);
// The operator with that number, on one tensor or on both.
void grown_add(struct grown *g, uint32_t op, enode_id x, enode_id y, int64_t attribute);
// All attributes of the operator have the value.
uint32_t grown_attributes(struct egraph *e, enum operator_id op, int64_t value);
