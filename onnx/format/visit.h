// Walking over a model by the tables of schema.c, and the small helpers that everybody uses.
#pragma once
#include "onnx/format/model.h"

bool onnx_message_visit(const struct onnx_descriptor *d, void *message, const struct onnx_descriptor *wanted,
                        onnx_visit_fn *visit, void *context);
bool onnx_string_is(const struct onnx_string *s, const char *text);
bool onnx_bytes_are(const struct onnx_bytes *b, const char *text);
// The name of a size; empty where it has none. "?" is none: exporters write it for every size that they do not know.
const struct onnx_string *onnx_symbol(const struct onnx_dimension *d);
