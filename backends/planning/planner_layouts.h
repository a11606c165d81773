// In which layouts a tensor may be written, and in which it is.
#pragma once
#include "backends/planning/plan.h"

// The layout in which to write the tensor: LAYOUT_ROWS or one of `mask` that suits its type. Called once for a tensor;
// its memory is to be allocated by planner_allocate_chosen.
enum layout planner_choose(struct planner *p, tensor_id t, unsigned mask, enum layout standard);
struct view planner_allocate_chosen(struct planner *p, tensor_id t, const struct type *type, enum layout layout);
// Marks the tensors that stand between operators on images, and those that matrix products read.
void planner_mark_images(struct planner *p, const bool *live);
