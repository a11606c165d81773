// Concatenation without copies.
#pragma once
#include "backends/planning/plan.h"
#include "backends/planning/planner.h"

// Concatenation: nothing for inputs that were written in place, copies for the others, in one step or in one for each.
// False: there are too many.
bool planner_claim_concat(struct planner *p, node_id node, enum layout standard, bool in_pieces);
// Channels last when an input of the node is an image that stands so, else rows.
enum layout planner_layout_like_inputs(const struct planner *p, node_id node);
