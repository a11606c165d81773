// Nodes with graphs of their own: types of what they make.
#pragma once
#include "onnx/convert/conversion.h"

bool has_subgraphs(const struct onnx_node *n);
