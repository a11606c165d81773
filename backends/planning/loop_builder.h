// Loops of a step as they grow: operands, instructions, results.
#pragma once
#include "backends/planning/planner.h"

struct loop *planner_add_loop(struct planner *p, struct step *step, int rank, int n_reduced, const int64_t *dim);
uint16_t loop_add_operand(struct planner *p, struct loop *loop, const struct loop_access *access);
uint16_t loop_add_instruction(struct planner *p, struct loop *loop, struct instruction instruction);
void loop_add_result(struct planner *p, struct loop *loop, uint16_t value, const struct loop_access *to);
struct loop_access access_of_view(const struct view *v);   // variable i runs over axis i
// A loop that copies between two views of equal dimensions.
void planner_add_copy(struct planner *p, struct step *step, const struct view *from, const struct view *to);

// Can the read be made of a tensor that stands in blocks, for results of these dimensions? Else it is to be copied.
bool planner_can_read_blocks(const struct affine_read *read, const struct view *v, const int64_t *dim);
struct loop_access planner_access_of_read(const struct affine_read *read, const struct view *v);
// Appends a stage's instructions, its reads being the given values; gives the value of its result.
uint16_t planner_append_code(struct planner *p, struct loop *loop, const struct stage_code *stage,
                             const uint16_t *reads);
bool instruction_commutes(const struct instruction *i);
// Operands of commutative functions in one order, so that equal work has equal text, whatever order the graph had.
void instruction_sort_operands(struct instruction *i);
