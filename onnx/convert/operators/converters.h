// The functions convert_... that operators.def names; which file has which follows from the operator's kind. Private to
// onnx/convert.
#pragma once
#include <stdbool.h>

struct conversion;

#define ONNX_OPERATOR(name, first, last, inputs, import, op, export) bool convert_##import(struct conversion *c);
#define IMPORTED_OPERATOR(name, first, last, inputs, import, parameter) bool convert_##import(struct conversion *c);
#define KEPT_OPERATOR(name, first, last, inputs, import, keeping, reason) bool convert_##import(struct conversion *c);
#include "onnx/convert/operators/operators.def"
