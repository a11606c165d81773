// Products of matrices, for converters that are made of them.
#pragma once
#include "onnx/convert/conversion.h"

// The product that MatMul makes.
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y);
