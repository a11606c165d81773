// Tensors in files of their own (TensorProto, as ONNX's test data are), as values for backends.
#ifndef ONNX_CONVERT_VALUES_H
#define ONNX_CONVERT_VALUES_H
#include "expressions/value.h"

struct error;

// Reads one tensor of numbers into `a`; the file is closed again. False with an error for anything else.
bool onnx_value_read(struct arena *a, const char *path, struct tensor_value *ret_value, struct error *error);
#endif
