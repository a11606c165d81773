// The reader: one interpreter over the tables of model.c.
#pragma once
#include "onnx/format/model.h"

// Parses `size` bytes that outlive the arena's use. `file` names them in errors, which say at which byte.
bool onnx_model_parse(struct arena *a, const char *file, const uint8_t *bytes, size_t size,
                      struct onnx_model **ret_model, struct error *error);
// onnx_model_parse for any message: `TensorProto` files of test data, say.
bool onnx_message_parse(struct arena *a, const struct onnx_descriptor *d, const char *file, const uint8_t *bytes,
                        size_t size, void **ret_message, struct error *error);
