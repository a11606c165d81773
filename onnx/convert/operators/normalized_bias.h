// A bias with factors and offsets for each channel.
#pragma once
#include "onnx/convert/conversion.h"

// bias * factors + offsets, by channel; NULL: the bias (NO_TENSOR: none) is no constant of so many channels.
const double *normalized_bias(struct conversion *c, tensor_id bias, uint32_t n_channels, const double *factors,
                              const double *offsets);
