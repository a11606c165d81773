// Reductions and softmax.
#pragma once
#include "onnx/convert/operators/converters.h"

struct axes {
    bool is_nothing;   // noop_with_empty_axes
    uint32_t count;
    int64_t axis[MAX_RANK];   // ascending
};
// The axes as a list without repetition; without any listed: all. False: the node cannot be converted.
bool read_axes(struct conversion *c, int rank, struct axes *ret_axes);
tensor_id reduce_by(struct conversion *c, enum operator_id op, tensor_id x, const struct axes *axes, bool keeps_axes);
