// Numbers for each column behind a product with a constant matrix are a part of the matrix.
#pragma once
#include "onnx/convert/conversion.h"

// The product that makes an input, which nothing else reads, or its sum with a bias, times numbers that are an input,
// too, for each column. False: there is none such, or these are no constant.
bool give_scaled_product(struct conversion *c, uint32_t input, uint32_t factors);
// As give_normalized_conv, of a product that makes an input, maybe behind transpositions and reshapes.
bool give_normalized_product(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                             const double *offsets);
