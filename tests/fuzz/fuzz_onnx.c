// ONNX models: opened, checked, imported as a graph that passes every check, and exported again; those of an odd number
// of bytes as what is run here and not written is imported, and of the others half are written anew.
#include "core/text/error.h"
#include "tests/fuzz/exported.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"

enum { FOLD_LIMIT = 256 };

static void import_and_export(struct onnx_file *file, bool expands, bool is_anew)
{
    struct imported_model m;
    struct import_options options = {.fold_limit = FOLD_LIMIT, .expands = expands};
    struct error error;
    if (!import_model(&m, file, &options, &error))
        return;
    FUZZ_REQUIRE(graph_check(&m.graph, &error));
    if (is_anew)
        forget_origins(&m);
    require_exported(&m);
    imported_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct onnx_file file;
    struct error error;
    if (!onnx_file_open(&file, fuzz_file(data, size), &error))
        return 0;
    if (onnx_model_check(file.model, "fuzz", &error))
        import_and_export(&file, size % 2 == 1, size % 4 == 2);
    onnx_file_close(&file);
    return 0;
}
