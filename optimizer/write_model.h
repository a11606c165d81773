// What is written: the result, the original simplified, or the original, as an ONNX model or compiled.
#pragma once
#include "optimizer/optimization.h"

// A graph made from the model's as an ONNX model. False: EXIT_UNSUPPORTED where it has no form there.
bool optimizing_export(struct optimizing *o, const struct graph *g, struct onnx_model **ret_model,
                       struct exported_types *ret_types, struct error *error);
// What was decided on: o->found, or the original, simplified where that is wanted.
bool optimizing_write(struct optimizing *o);
void optimizing_free_written(struct optimizing *o);
