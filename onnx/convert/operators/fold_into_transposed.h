// Numbers for each channel behind a ConvTranspose, a normalization, a product or a sum, are a part of its weights.
#pragma once
#include "onnx/convert/conversion.h"

// As give_normalized_conv, of what a ConvTranspose makes: the node then stands for both, with other weights.
bool give_normalized_transposed(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                                const double *offsets);
