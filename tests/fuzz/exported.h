// Models that are imported and exported again, with symbols that stay or without.
#pragma once
#include "onnx/convert/export/export.h"

enum { FUZZ_FOLD_LIMIT = 256 };
// `size` is that of the input, which may decide how.
typedef bool fuzz_import_fn(struct imported_model *m, struct onnx_file *file, size_t size, struct error *error);
// Opens the model that the bytes are and imports it, as a graph that passes every check; exports that where it can be,
// with no node as it was in the model where `is_anew`; and what is written then can be read, and passes every check.
void fuzz_import_and_export(const uint8_t *data, size_t size, fuzz_import_fn *import, bool is_anew);
