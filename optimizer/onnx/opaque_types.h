// Types of what opaque nodes make, where the model does not say: the graph behind an operator that we do not execute
// can still be optimized. Private to optimizer/onnx.
#ifndef OPTIMIZER_ONNX_OPAQUE_TYPES_H
#define OPTIMIZER_ONNX_OPAQUE_TYPES_H
#include "optimizer/onnx/convert.h"

// Fills in those of ret_types (one per output of the node) that the operator's definition determines; leaves the
// others.
void infer_opaque_types(struct conversion *c, struct type *ret_types);
#endif
