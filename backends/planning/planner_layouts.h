// In which layouts a tensor may be written, and in which it is.
#pragma once
#include "backends/planning/plan.h"

// The layouts that the target lists for the operator of the node; of loops, for one that is not listed.
unsigned planner_layouts(const struct planner *p, node_id node);
struct view planner_allocate_chosen(struct planner *p, tensor_id t, const struct type *type, enum layout layout);
