// Numbers for each channel behind a convolution, a normalization, a product or a sum, are a part of its weights.
#pragma once
#include "onnx/convert/conversion.h"

// The convolution that makes an input, which nothing else reads, with its channels times factors plus offsets (NULL:
// none), which weights of it can do. False: there is none such.
bool give_normalized_conv(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                          const double *offsets);
bool give_scaled_conv(struct conversion *c, uint32_t input, uint32_t factors);   // these are an input, too
bool give_shifted_conv(struct conversion *c, uint32_t input, uint32_t offsets);
