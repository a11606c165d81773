// Steps and memories of the plan that grows, and what is known of tensors so far. Nothing here adds work.
#pragma once
#include "backends/planning/planner.h"

const struct graph *planner_graph(const struct planner *p);
bool planner_is_constant(const struct planner *p, tensor_id t);
// Looks without any effect; false when the tensor is not stored yet.
bool planner_peek(const struct planner *p, tensor_id t, struct view *ret_view);
// It is stored, as the step wrote it; NO_STEP: none did.
void planner_bind(struct planner *p, tensor_id t, const struct view *v, uint32_t step);
// Is it to be stored for its readers, none of which runs in one kernel with its maker?
bool planner_is_apart(const struct planner *p, tensor_id t);
// The layouts that the target lists for the operator of the node; of loops, for one that is not listed.
unsigned planner_layouts(const struct planner *p, node_id node);

// A new step at the end. Never keep the pointer over another step's making: use its number.
uint32_t planner_open_step(struct planner *p, const struct kernel *kernel, node_id node, bool is_constant);
void planner_attach_node(struct planner *p, uint32_t step, node_id node);
void planner_move_to_end(struct planner *p, uint32_t step);
// Notes who makes what stands in the memory; that of parts has no one writer.
void planner_note_writer(struct planner *p, memory_id memory, uint32_t step);

// A memory for so many elements, that no step has written yet.
memory_id planner_add_memory(struct planner *p, enum dtype dtype, int64_t elements);
// Its last step; NULL: none has written it.
struct step *planner_writer(const struct planner *p, memory_id memory);
// Fresh memory for a result of a step, dense.
struct view planner_allocate(struct planner *p, const struct type *type, enum layout layout);
