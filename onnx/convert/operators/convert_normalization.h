// A normalization of a batch, as it is for each channel, as numbers.
#pragma once
#include "onnx/convert/operators/fold_into_weights.h"

// scale / sqrt(variance + epsilon), and bias - mean * that. `statistics` are scale, bias, mean and variance; false:
// these are no weights of one size. The numbers live as long as the node's conversion.
bool read_normalization(struct conversion *c, const tensor_id *statistics, double epsilon, struct channel_numbers *ret);
