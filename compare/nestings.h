// A concatenation of several tensors is concatenations of two, one of the other, and a split into several parts is
// splits into two, one behind the other: models that were written by taso-opt have the former, rules make the latter.
#pragma once
#include "egraph/egraph.h"

#define MOST_PARTS 8

// Adds all concatenations of two that make one of the parts, all united, and gives one of them. 1 <= n <= MOST_PARTS.
// To be followed by egraph_rebuild.
enode_id egraph_add_nestings(struct egraph *e, int axis, int n, const enode_id *parts);
// Adds to each concatenation of three to MOST_PARTS tensors of a clean e-graph all of two that make the same, and to
// each split into as many parts all splits into two that make the same parts, and unites them. To be followed by
// egraph_rebuild.
void egraph_nest_concats_and_splits(struct egraph *e);
