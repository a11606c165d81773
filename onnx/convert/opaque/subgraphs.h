// Nodes with graphs of their own, and calls of functions: types of what they make.
#pragma once
#include "onnx/convert/conversion.h"

bool has_subgraphs(const struct onnx_node *n);
const struct onnx_function *function_called_by(const struct conversion *c);   // of the model's; NULL: none
void infer_type_of_call(struct conversion *c, const struct onnx_function *f, struct type *ret_types);
