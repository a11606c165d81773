// Models are written to a file of this process in memory, where there is one.
#include "tests/fuzz/exported.h"

#include "core/text/error.h"
#include "onnx/format/check.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_save.h"
#include "tests/fuzz/fuzz.h"
#include "tests/onnx/forget_origins.h"
#include "tests/support/graph_check.h"

static void require_readable(const char *written)
{
    struct onnx_file file FREED_BY(onnx_file_close);
    struct error error;
    FUZZ_REQUIRE(onnx_file_open(&file, written, &error));
    FUZZ_REQUIRE(onnx_model_check(file.model, written, &error));
}

static void require_exported(struct imported_model *m)
{
    struct onnx_model *exported;
    struct error error = {0};
    if (!export_model(m, &m->graph, &exported, NULL, &error)) {
        FUZZ_REQUIRE(error.message[0]);
        return;
    }
    FUZZ_REQUIRE(onnx_model_check(exported, "exported", &error));
    if (onnx_model_write(exported, m->file, fuzz_output(), 0, NULL, &error))
        require_readable(fuzz_output());
    else
        FUZZ_REQUIRE(error.message[0]);
}

void fuzz_import_and_export(const uint8_t *data, size_t size, fuzz_import_fn *import, bool is_anew)
{
    struct onnx_file file;
    struct imported_model m;
    struct error error;
    if (!onnx_file_open(&file, fuzz_file(data, size), &error))
        return;
    if (import(&m, &file, size, &error)) {
        FUZZ_REQUIRE(graph_check(&m.graph, &error));
        if (is_anew)
            forget_origins(&m);
        require_exported(&m);
        imported_model_free(&m);
    }
    onnx_file_close(&file);
}
