// Reductions and softmax.
#pragma once
#include "onnx/convert/operators/reductions.h"

// The axes as a list without repetition; without any listed: all. False: the node cannot be converted.
bool read_axes(struct conversion *c, int rank, struct axes *ret_axes);
tensor_id reduce_by(struct conversion *c, enum operator_id op, tensor_id x, const struct axes *axes, bool keeps_axes);
