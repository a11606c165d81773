// The new model around its nodes: initializers, inputs, and what the old model says of what is left.
#pragma once
#include "onnx/convert/export/exporter.h"

struct onnx_model *assemble_model(struct exporter *x);
// A value of this type and shape, all in the arena.
struct onnx_value_info *describe_tensor(struct arena *arena, struct onnx_string name, int64_t data_type, size_t rank,
                                        const int64_t *dims);
