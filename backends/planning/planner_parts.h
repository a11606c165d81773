// Which tensors are parts of a concatenation's result, its whole, and where they stand.
#pragma once
#include "backends/planning/planner.h"

void planner_find_parts(struct planner *p, const bool *live);
// The whole that decides the layout of a tensor; NULL: there is none.
struct tensor_whole *planner_whole_of(const struct planner *p, tensor_id t);
tensor_id planner_requester(const struct planner *p, node_id node);   // the tensor whose choice is that of the node
struct view planner_part(const struct planner *p, tensor_id t);       // where it stands, in a whole that is open
// May the step of `maker` that was to write one tensor write there what became of it?
bool planner_may_move_to_part(const struct planner *p, node_id maker, tensor_id to);
int planner_concat_axis(const struct planner *p, node_id id);
unsigned planner_layouts_of_concat(const struct planner *p,
                                   node_id id);   // in blocks only where each input has whole ones
