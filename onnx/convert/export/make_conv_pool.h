// Convolutions, products and pooling as ONNX nodes.
#pragma once
#include "onnx/convert/export/exporter.h"

bool is_written_as_gemm(struct exporter *x, node_id node);   //
