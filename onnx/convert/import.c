// A model that is imported for known sizes: checked, then converted.
#include "onnx/convert/import.h"

#include "onnx/convert/constant_cache.h"
#include "onnx/convert/importer.h"
#include "onnx/format/check.h"

bool import_model(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                  struct error *error)
{
    struct importer im;
    importer_init(&im, m, file, options, error);
    bool is_imported = onnx_model_check(file->model, file->path, error) && import_graph(&im);
    importer_free(&im);
    if (!is_imported)
        imported_model_free(m);
    return is_imported;
}

void imported_model_free(struct imported_model *m)
{
    graph_free(&m->graph);
    vec_free(&m->inputs);
    vec_free(&m->outputs);
    vec_free(&m->weights);
    vec_free(&m->opaques);
    vec_free(&m->origins);
    vec_free(&m->symbols);
    sizes_free(&m->sizes);
    table_free(&m->origin_by_value);
    arena_free(&m->arena);
    if (m->constants)
        constant_cache_free(m->constants);
}
