// Types and attribute lists of an e-graph, each kept once: equal ones have one number.
#pragma once
#include "egraph/egraph.h"
#include "graph/graph.h"

uint32_t egraph_intern_type(struct egraph *e, uint32_t n, const struct type *types);   // split trees are left out
uint32_t egraph_intern_outputs(struct egraph *e, const struct graph *g, const struct node *n);   // their types
uint32_t egraph_intern_attributes(struct egraph *e, const struct operator* op, const struct attribute_value *values);
