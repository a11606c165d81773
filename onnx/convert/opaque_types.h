// Types of what opaque nodes make: the graph behind an operator that we do not execute can still be optimized. Private
// to onnx.
#pragma once
#include "onnx/convert/conversion.h"

// Fills in those of ret_types (one per output of the node) that the operator's definition determines; leaves the
// others.
void infer_opaque_types(struct conversion *c, struct type *ret_types);
