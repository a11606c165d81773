// Tensors in files of their own (TensorProto, as ONNX's test data are), as values for backends; and the values of
// weights.
#ifndef OPTIMIZER_ONNX_VALUES_H
#define OPTIMIZER_ONNX_VALUES_H
#include "backends/value.h"
#include "optimizer/onnx/import.h"

// Reads one tensor of numbers into `a`; the file is closed again. False with an error for anything else.
bool onnx_value_read(struct arena *a, const char *path, struct tensor_value *ret_value, struct error *error);
// Fills ret_values, one per weight of `m`, with the elements of those that `g` has live; others have no data.
bool imported_model_values(struct imported_model *m, const struct graph *g, struct tensor_value *ret_values,
                           struct error *error);
#endif
