// Parts of tensors, for converters that are made of them.
#pragma once
#include "onnx/convert/conversion.h"

// `size` entries of one axis from `start` on.
tensor_id part_of(struct conversion *c, tensor_id x, int axis, int64_t start, int64_t size);
