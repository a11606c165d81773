// Sizes and borders of resampled tensors.
#pragma once
#include "onnx/convert/conversion.h"

// The tensor padded with its own entries, as the node's mode says (edge, reflect, wrap).
tensor_id pad_by_entries(struct conversion *c, tensor_id x, const int64_t *pads);
// A size times a scale, rounded down; -1: it is out of range, or single precision, which runtimes use, has another one.
int64_t scaled_size(int64_t size, double scale);
