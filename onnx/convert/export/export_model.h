// The new model around its nodes: initializers, inputs, and what the old model says of what is left.
#pragma once
#include "onnx/convert/export/exporter.h"

struct onnx_model *assemble_model(struct exporter *x);
