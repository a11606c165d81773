// Loops over tensors that stand in blocks: an access that is c / B * s + c % B is no affine one in c, but it is in the
// two variables c / B and c % B.
#pragma once
#include "backends/planning/plan.h"
#include "backends/planning/planner.h"

// The loop for whoever runs an epilogue as one: the same, over more variables where something stands in blocks.
struct loop *loop_copy_without_blocks(const struct loop *l, struct arena *arena);

// gives a loop that reads or writes blocks one more axis, until none of its accesses has blocks.
void loop_split_blocks(struct loop *l);
