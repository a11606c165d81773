// Operators that move entries as ONNX nodes.
#pragma once
#include "onnx/convert/export/exporter.h"

bool is_divided_further(const struct exporter *x, node_id split);    //
bool divides_part(const struct exporter *x, node_id node);           // is it written as one with the split before it?
bool joins_concatenations(const struct exporter *x, node_id node);   // and with concatenations before it?
