// Names of the nodes that were made, each once, and the rules that made them as metadata.
#pragma once
#include "onnx/convert/export/exporter.h"

void name_made_nodes(struct exporter *x);
