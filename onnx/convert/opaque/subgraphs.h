// Nodes with graphs of their own, and calls of functions: types of what they make.
#pragma once
#include "onnx/convert/conversion.h"

bool has_subgraphs(const struct onnx_node *n);
void infer_type_of_call(struct conversion *c, const struct onnx_function *f, struct type *ret_types);
