// Whether a tensor of the graph still is what import made of an ONNX node: the same applications, down to the node's
// inputs.
#pragma once
#include "onnx/convert/export/exporter.h"

// Is what the graph has at `tensor` still what import made of the node that `origin` names? Then ret_inputs (one per
// input of that node) has the graph's tensor for each input that is no weight; NO_TENSOR for weights and omitted ones.
bool match_origin(const struct exporter *x, tensor_id tensor, const struct imported_origin *origin,
                  tensor_id *ret_inputs);
