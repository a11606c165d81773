// Numbers for each channel behind what is linear in constant weights, a normalization, a product or a sum, are a part
// of these weights.
#pragma once
#include "onnx/convert/conversion.h"

// A convolution, or a product with a constant matrix, and what is added to it.
struct linear {
    node_id node;
    tensor_id input, weights;
    tensor_id bias;          // a weight with a number for each channel; NO_TENSOR: none
    int axis, weight_axis;   // of channels, in what it makes and in the weights
};
struct channel_numbers {
    uint32_t count;
    const double *factors, *offsets;   // NULL: none
};
bool find_linear(struct conversion *c, tensor_id tensor, struct linear *ret);   // false: something else makes it
// bias * factors + offsets; NULL: the bias (NO_TENSOR: none) is no constant of so many channels, or integers wrap.
const double *bias_with_numbers(struct conversion *c, tensor_id bias, enum dtype, const struct channel_numbers *n);
// scale / sqrt(variance + epsilon), and bias - mean * that. `statistics` are scale, bias, mean and variance; false:
// these are no weights of one size. The numbers live as long as the node's conversion.
bool read_normalization(struct conversion *c, const tensor_id *statistics, double epsilon, struct channel_numbers *ret);

// Gives what makes an input, and nothing else reads, with its channels, which lie along axis 1, times factors plus
// offsets: a convolution or a product, maybe behind transpositions and reshapes, or a ConvTranspose node, which then
// stands for both. False: there is none such.
bool give_normalized(struct conversion *c, uint32_t input, const struct channel_numbers *n);
// The numbers are an input, too: constants for each channel of an image, or factors for each entry of the last axis.
bool give_scaled(struct conversion *c, uint32_t input, uint32_t factors);
bool give_shifted(struct conversion *c, uint32_t input, uint32_t offsets);

// ---- numbers that fold into weights have to be numbers there ----

// Are the products of weights with factors, each of which is for `run` in a row, numbers of their element type, and
// those of halves as precise as themselves? What is not, or is not seen to be, is left to the runtime.
bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run);
bool sum_fits(struct conversion *c, tensor_id a, tensor_id b);           // of constants, as far as bounds of them tell
bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers);   // none becomes infinite
