// Symbols whose sizes have to be multiples of a power of two: of a network that halves an image and doubles it, to be
// joined with what it was, no other height has a result.
#pragma once
#include "onnx/convert/importer.h"

// A number for each symbol that divides all sizes at which the model has results; mostly one.
void find_units(const struct imported_model *named, struct onnx_file *file, const struct import_options *options,
                int64_t *ret_units);
