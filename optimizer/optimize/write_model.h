// The written model: the result, the original simplified, or the original, as an ONNX model or compiled.
#pragma once
#include "optimizer/job/optimization.h"

// Writes the model that was decided on: o->found, or the original, simplified where that is wanted.
bool optimizing_write(struct optimizing *o);
