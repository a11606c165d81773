// The state of an import, and types that ONNX states, as types of the graph.
#include "onnx/convert/importer.h"

#include "onnx/convert/import_names.h"

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

static int64_t size_of_symbol(const struct importer *im, const struct onnx_string *symbol)
{
    const struct bound_symbol *bound = symbol->size ? vec_find(&im->symbols, s, onnx_string_is(symbol, s->name)) : NULL;
    return bound ? bound->size : -1;
}

int64_t dimension_of(const struct importer *im, const struct onnx_dimension *d)
{
    if (ONNX_HAS(d, 1))
        return d->value >= 0 && d->value <= MAX_ELEMENTS ? d->value : -1;
    return size_of_symbol(im, onnx_symbol(d));
}

struct type type_within_limits(struct type t)
{
    int64_t elements = 1;
    for (int i = 0; i < t.rank; i++) {
        int64_t d = t.dim[i] > 1 ? t.dim[i] : 1;
        if (d > MAX_ELEMENTS || elements > MAX_ELEMENTS / d)
            return (struct type){.dtype = t.dtype, .rank = RANK_UNKNOWN};
        elements *= d;
    }
    return t;
}

struct type type_from_onnx(const struct importer *im, const struct onnx_type *t)
{
    struct type type = {.rank = RANK_UNKNOWN};
    if (!t || !t->tensor)
        return type;
    type.dtype = dtype_from_onnx(t->tensor->elem_type);
    const struct onnx_shape *shape = t->tensor->shape;
    if (!shape || shape->dimensions.count > MAX_RANK)
        return type;
    type.rank = (int)shape->dimensions.count;
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = dimension_of(im, shape->dimensions.items[i]);
    return type_within_limits(type);
}

struct type type_of_tensor(const struct onnx_tensor *t)
{
    struct type type = {.rank = RANK_UNKNOWN, .dtype = dtype_from_onnx(t->data_type)};
    if (t->dims.count > MAX_RANK)
        return type;
    type.rank = (int)t->dims.count;
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = t->dims.items[i];
    return type_within_limits(type);
}
