// A graph as an ONNX model.
#pragma once
#include "optimizer/job/optimization.h"

// A graph made from the model's as an ONNX model. False: EXIT_UNSUPPORTED where it has no form there.
bool optimizing_export(struct optimizing *o, const struct graph *g, struct onnx_model **ret_model,
                       struct exported_types *ret_types, struct error *error);
void optimizing_free_written(struct optimizing *o);   // what was made of graphs to export them
