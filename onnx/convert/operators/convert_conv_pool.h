// Convolutions, for converters that are made of them.
#pragma once
#include "onnx/convert/conversion.h"

// The convolution at these places of n spatial axes, in the node's groups.
tensor_id convolve_at(struct conversion *c, int n, const int64_t *strides, const int64_t *pads,
                      const int64_t *dilations, tensor_id x, tensor_id kernel);
// A convolution by the node's strides, pads, dilations and groups; and a bias for each channel of an image, NO_TENSOR
// for none.
tensor_id convolve(struct conversion *c, tensor_id x, tensor_id kernel);
tensor_id add_to_channels(struct conversion *c, tensor_id image, tensor_id bias);
