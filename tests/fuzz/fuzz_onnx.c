// ONNX models: opened, checked, imported as a graph that passes every check, and exported again; those of an odd number
// of bytes as what is run here and not written is imported, and of the others half are written anew.
#include "onnx/convert/import/import.h"
#include "onnx/format/check.h"
#include "tests/fuzz/exported.h"
#include "tests/fuzz/fuzz.h"

static bool import(struct imported_model *m, struct onnx_file *file, size_t size, struct error *error)
{
    struct import_options options = {.fold_limit = FUZZ_FOLD_LIMIT, .expands = size % 2 == 1};
    return onnx_model_check(file->model, "fuzz", error) && import_model(m, file, &options, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import_and_export(data, size, import, size % 4 == 2);
    return 0;
}
