// The state of an import begins and ends.
#include "onnx/convert/importer.h"

#include "onnx/convert/import_names.h"
#include "onnx/format/visit.h"

void importer_init(struct importer *im, struct imported_model *m, struct onnx_file *file,
                   const struct import_options *options, struct error *error)
{
    *m = (struct imported_model){.file = file, .opset = onnx_version(&file->model->opsets, "")};
    graph_init(&m->graph, &m->arena);
    *im = (struct importer){.model = m, .source = file->model->graph, .options = options, .error = error};
}

void importer_free(struct importer *im)
{
    if (im->options->operations)
        *im->options->operations += im->folding.operations;
    arena_free(&im->scratch);
    vec_free(&im->symbols);
    vec_free(&im->folding.is_constant);
    vec_free(&im->known);
    vec_free(&im->unfit);
    table_free(&im->kept);
    names_free(im);
}
