// Checking graphs: one scope per graph, linked to the scope around it.
#pragma once
#include "onnx/format/model.h"

// IR version, operator sets and graphs must be such that the model has a meaning: names in single-assignment form,
// no use before definition, no cycle (reported as one), defined outputs; in subgraphs and functions too.
bool onnx_model_check(const struct onnx_model *model, const char *file, struct error *error);
