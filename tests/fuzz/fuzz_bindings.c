// Sizes for inputs and symbols, as command lines give them, of a model that stands behind them: each line is one, and a
// byte 0 ends them. What is imported at them passes every check, with symbols that stay and without.
#include "core/text/error.h"
#include "onnx/convert/import/import.h"
#include "onnx/convert/symbolic/import_symbolic.h"
#include "onnx/format/model_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"
#include "tests/support/scoped.h"
#include <string.h>

enum { FOLD_LIMIT = 256, MOST_LINES = 16 };

static void import_at(const char *path, const struct import_options *options, bool keeps_symbols)
{
    struct onnx_file file;
    struct imported_model m;
    struct error error = {0};
    if (!onnx_file_open(&file, path, &error))
        return;
    if (keeps_symbols ? import_symbolic(&m, &file, options, &error) : import_model(&m, &file, options, &error)) {
        FUZZ_REQUIRE(graph_check(&m.graph, &error));
        imported_model_free(&m);
    } else {
        FUZZ_REQUIRE(error.message[0]);
    }
    onnx_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    const char *lines[MOST_LINES];
    struct import_options options = {.shapes = lines, .fold_limit = FOLD_LIMIT};
    ARENA(arena);
    char *rest;
    if (!zero)
        return 0;
    size_t text = (size_t)(zero - data);
    for (char *line = strtok_r(arena_string_n(&arena, (const char *)data, text), "\n", &rest);
         line && options.shape_count < MOST_LINES; line = strtok_r(NULL, "\n", &rest))
        lines[options.shape_count++] = line;
    const char *path = fuzz_file(zero + 1, size - text - 1);
    import_at(path, &options, true);
    options.expands = true;
    import_at(path, &options, false);
    return 0;
}
