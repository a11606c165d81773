// Sums of convolutions of one image are one convolution.
#pragma once
#include "onnx/convert/conversion.h"

// The sum of the node's two inputs, which nothing else reads: convolutions of one image with constant kernels, one of
// whose windows has room for the other's, or one and the image itself, plain or normalized. False: they are something
// else.
bool give_merged_convs(struct conversion *c);
