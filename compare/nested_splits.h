// A split into several parts is splits into two, one behind the other: models that were written by taso-opt have the
// former, rules make the latter. And a part of what an elementwise operator makes is made of parts of what it reads.
#pragma once
#include "egraph/egraph.h"

// Adds to each split of a clean e-graph into three to eight parts all splits into two that make the same parts, and
// unites them; before that, to each split of what an elementwise operator makes the same splits of what that reads, and
// unites its parts with what the operator makes of theirs. To be followed by egraph_rebuild.
void egraph_add_nested_splits(struct egraph *e);
