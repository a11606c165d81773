// How tensors stand for whoever reads them: stored, copied, in a layout.
#pragma once
#include "backends/planning/planner.h"

// The tensor as it stands (stored now if it was only a value inside of a loop, in `layout` if that may be chosen).
struct view planner_view(struct planner *p, tensor_id t, enum layout layout);
// The tensor with exactly these strides, copied when it stands otherwise.
struct view planner_dense(struct planner *p, tensor_id t, enum layout layout);
// The same for whoever wants this only because the tensor does not stand in a way that would also do: what is done with
// it depends on how the tensor stands.
struct view planner_dense_instead(struct planner *p, tensor_id t, enum layout layout);
// The tensor with these strides, or as it stands when it is a run of channels of a tensor that has them (view_is_part).
struct view planner_dense_or_part(struct planner *p, tensor_id t, enum layout layout);
struct view planner_copy(struct planner *p, const struct view *source, enum dtype dtype, enum layout layout);
// How the tensor stands for a loop that reads it so.
struct view planner_view_for_read(struct planner *p, tensor_id t, const struct affine_read *read, const int64_t *dim);
// The source in memory of its own, at the same places, with elements of another type; it fills its memory.
struct view planner_copy_like(struct planner *p, const struct view *source, enum dtype dtype);
