// Import at known sizes: the model is checked, then converted.
#include "onnx/convert/import/import.h"

#include "onnx/convert/import/import_nodes.h"
#include "onnx/format/check.h"

bool import_model(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                  struct error *error)
{
    struct importer im FREED_BY(importer_free);
    importer_init(&im, m, file, options, error);
    if (onnx_model_check(file->model, file->path, error) && import_graph(&im))
        return true;
    imported_model_free(m);
    return false;
}
