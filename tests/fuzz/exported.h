// What must hold of every model that is exported, whatever was imported.
#pragma once
#include "onnx/convert/export/export.h"

// No node of the graph is as it was in the model: all are written as a rewrite would.
void forget_origins(struct imported_model *m);
// Exports the graph where it can be; what is written then can be read, and passes every check.
void require_exported(struct imported_model *m);
