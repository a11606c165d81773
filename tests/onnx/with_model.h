// An imported model for the time of a call.
#pragma once
#include "core/text/error.h"
#include "onnx/convert/import/import.h"
#include "onnx/format/model_file.h"

typedef bool use_model_fn(struct imported_model *m, void *context, struct error *error);

static inline bool with_model(const char *path, const struct import_options *options, use_model_fn *use, void *context,
                              struct error *error)
{
    struct onnx_file file;
    struct imported_model model;
    if (!onnx_file_open(&file, path, error))
        return false;
    bool is_done = import_model(&model, &file, options, error);
    if (is_done) {
        is_done = use(&model, context, error);
        imported_model_free(&model);
    }
    onnx_file_close(&file);
    return is_done;
}
