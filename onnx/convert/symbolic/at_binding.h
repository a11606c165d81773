// A model at one binding of its symbols, with nothing symbolic: what does it make, and has it a result there?
#pragma once
#include "core/text/error.h"
#include "onnx/convert/importer.h"

struct at_binding {
    struct importer im;
    struct imported_model model;
    struct error error;
};
// `named` has the symbols. False: it is larger than any memory there. at_binding_free follows in any case.
bool at_binding_import(struct at_binding *b, const struct imported_model *named, struct onnx_file *file,
                       const struct import_options *options, const int64_t *binding);
void at_binding_free(struct at_binding *b);
// A node fails whose operands do not go together, or that reads beyond a table.
enum outcome { NOT_IMPORTED, FAILS, RUNS };
enum outcome at_binding_try(const struct imported_model *named, struct onnx_file *file,
                            const struct import_options *options, const int64_t *binding);
