// Export's side of the table of ONNX operators: how a node of the graph is written as new ONNX nodes.
#pragma once
#include "onnx/convert/export/export.h"
#include "onnx/convert/export/exporter.h"

// The type of ONNX that a new node of this operator has, mostly; NULL: it has none.
const char *exported_operator_name(enum operator_id op);
bool make_nodes(struct exporter *x, node_id node);
