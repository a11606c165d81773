// Products of matrices, for converters that are made of them.
#pragma once
#include "onnx/convert/conversion.h"

// As MatMul does.
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y);
