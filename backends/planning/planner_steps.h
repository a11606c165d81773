// Steps of kernels and of loops, bound to what their nodes make.
#pragma once
#include "backends/planning/planner.h"

// A step for `node`; operands and results are copied. Outputs of the node are bound to results in order, converted back
// when a result has another element type than the output.
struct step *planner_add_step(struct planner *p, const struct kernel *kernel, node_id node, int n_operands,
                              const struct view *operands, int n_results, const struct view *results);
// A step of the loops kernel that computes the only output of `node`; the caller adds loops with planner_add_loop.
struct step *planner_add_loops_step(struct planner *p, node_id node, const struct view *result);
// The same in several steps, which cost what they cost each: piece 0 of n_pieces is made by planner_add_loops_step.
struct step *planner_add_piece(struct planner *p, node_id node, const struct view *result, uint32_t piece);
