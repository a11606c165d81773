// Concatenation without copies.
#pragma once
#include "backends/planning/plan.h"
#include "backends/planning/planner.h"

// Concatenation: nothing for inputs that were written in place, copies for the others, in one step or in one for each.
// False: there are too many.
bool planner_claim_concat(struct planner *p, node_id node, enum layout standard, bool in_pieces);

// which tensors are parts; the whole that decides the layout of a tensor, or NULL; where a part
// stands, in a whole that is open; may the step of `maker` that was to write one tensor write there what became of it?
void planner_find_parts(struct planner *p, const bool *live);
struct tensor_whole *planner_whole_of(const struct planner *p, tensor_id t);
tensor_id planner_requester(const struct planner *p, node_id node);   // the tensor whose choice is that of the node
struct view planner_part(const struct planner *p, tensor_id t);
bool planner_may_move_to_part(const struct planner *p, node_id maker, tensor_id to);
