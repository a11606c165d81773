// The model as import made it, without any rewrite: constants computed, equal nodes one, dead and idle ones gone, batch
// normalizations a part of convolutions.
#pragma once
#include "optimizer/optimization.h"

// Is the model, simplified, to be written instead of the original?
bool optimizing_simplify(struct optimizing *o, struct onnx_model **ret_model, struct exported_types *ret_types);
