// Import at known sizes. A model whose symbols stay is imported by symbolic/import_symbolic.h.
#pragma once
#include "onnx/convert/imported_model.h"

// `file` must outlive the model. Shapes that name no input or symbol, or contradict the model, are errors (EXIT_USAGE).
bool import_model(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                  struct error *error);
