// Sums of convolutions of one image are one convolution.
#pragma once
#include "onnx/convert/conversion.h"

struct summand {
    tensor_id tensor;
    bool is_read_once;   // by the sum alone
};
// Tensors of one sum: convolutions of one image with constant kernels, one of whose windows has room for the other's,
// or one and the image itself, plain or normalized, become one as long as there are two. Gives how many are left, the
// first ones; the node is rewritten where these are fewer.
uint32_t merge_convs(struct conversion *c, uint32_t n, struct summand *summands);
