// Import of a model that keeps its symbols, as far as there are any: dimensions without a number that no option binds.
// What is the same function of them at several bindings is in the graph, whatever the sizes; all else is opaque, and so
// is what the model computes of its shapes.
#pragma once
#include "onnx/convert/imported_model.h"

bool import_symbolic(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                     struct error *error);
// Has a model with symbols a result at these sizes? No: operands do not go together there, an index lies beyond a
// table, or a tensor is larger than any memory. `options` are those of the import.
bool import_runs_at(const struct imported_model *m, const struct import_options *options, const int64_t *binding);
// Halves sizes until it has one; leaves them as they are where that does not help.
void import_fit_binding(const struct imported_model *m, const struct import_options *options, int64_t *binding);
