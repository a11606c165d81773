// A concatenation of several tensors is concatenations of two, one of the other: models that were written by taso-opt
// have the former, rules make the latter.
#pragma once
#include "egraph/egraph.h"

#define MOST_PARTS 8

// Adds all nestings of two, all united, and gives one of them. 1 <= n <= MOST_PARTS. To be followed by egraph_rebuild.
enode_id egraph_add_nestings(struct egraph *e, int axis, int n, const enode_id *parts);
// The same for each concatenation of three to MOST_PARTS tensors, united with it.
void egraph_add_nested_concats(struct egraph *e);
