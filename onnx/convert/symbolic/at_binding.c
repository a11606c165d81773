// A model at one binding of its symbols, with nothing symbolic: it is imported as one without symbols is.
#include "onnx/convert/symbolic/at_binding.h"

#include "onnx/convert/import/import.h"

bool at_binding_import(struct at_binding *b, const struct imported_model *named, struct onnx_file *file,
                       const struct import_options *options, const int64_t *binding)
{
    b->error = (struct error){0};
    importer_init(&b->im, &b->model, file, options, &b->error);
    b->im.part.named = named->symbols.list.count > 0 ? named : NULL;
    b->im.part.binding = binding;
    return import_graph(&b->im);
}

void at_binding_free(struct at_binding *b)
{
    importer_free(&b->im);
    imported_model_free(&b->model);
}

enum outcome at_binding_try(const struct imported_model *named, struct onnx_file *file,
                            const struct import_options *options, const int64_t *binding)
{
    struct at_binding b FREED_BY(at_binding_free);
    return !at_binding_import(&b, named, file, options, binding) ? NOT_IMPORTED : b.im.unfit.count > 0 ? FAILS : RUNS;
}
