// Reading ONNX nodes: attributes by name.
#pragma once
#include "onnx/format/model.h"

const struct onnx_attribute *onnx_node_find(const struct onnx_node *n, const char *name);   // NULL when absent
int64_t onnx_node_int(const struct onnx_node *n, const char *name, int64_t standard);
double onnx_node_float(const struct onnx_node *n, const char *name, double standard);
bool onnx_node_has_standard_domain(const struct onnx_node *n);   // "" or "ai.onnx"
