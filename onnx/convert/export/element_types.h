// Private to onnx.
#pragma once
#include "expressions/type.h"

// May the first input of this operator, which the operator set has, be of this type there?
bool onnx_has_element_type(const char *op_type, enum dtype dtype, int64_t opset);
