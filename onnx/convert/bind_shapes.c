// Sizes of symbolic dimensions: --shape options bind some, the rest stay symbols that are bound at each probe.
#include "onnx/convert/bind_shapes.h"

#include "core/memory/vec.h"
#include "core/text/error.h"
#include "onnx/format/visit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct binding {
    const char *text;   // the whole option
    size_t name_size;
    int rank;
    int64_t dim[MAX_RANK];
    bool is_used;
};

static bool bad_binding(struct importer *im, const struct binding *b, const char *reason)
{
    return error_set_code(im->error, EXIT_USAGE, NULL, "--shape %s: %s", b->text, reason);
}

static bool parse_binding(struct importer *im, const char *text, struct binding *ret_binding)
{
    struct binding b = {.text = text};
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return bad_binding(im, &b, "is not NAME=SIZE,SIZE,...");
    b.name_size = (size_t)(equals - text);
    for (const char *at = equals + 1; *at || b.rank == 0;) {
        char *end;
        errno = 0;
        long long size = strtoll(at, &end, 10);
        if (end == at || errno || size < 0 || size > MAX_ELEMENTS || (*end && *end != ',') || (*end && !end[1]))
            return bad_binding(im, &b, "has a size that is no number from 0 on");
        if (b.rank == MAX_RANK)
            return bad_binding(im, &b, "has too many sizes");
        b.dim[b.rank++] = size;
        at = *end ? end + 1 : end;
    }
    *ret_binding = b;
    return true;
}

static bool is_for(const struct binding *b, const struct onnx_string *name)
{
    return name->size == b->name_size && memcmp(name->text, b->text, b->name_size) == 0;
}

static bool bind_input(struct importer *im, struct binding *b, struct type *type)
{
    b->is_used = true;
    if (type->rank != RANK_UNKNOWN && type->rank != b->rank)
        return bad_binding(im, b, "has another number of sizes than the model says");
    for (int i = 0; type->rank != RANK_UNKNOWN && i < b->rank; i++)
        if (type->dim[i] >= 0 && type->dim[i] != b->dim[i])
            return bad_binding(im, b, "contradicts a size that the model fixes");
    *type = type_make(type->dtype, b->rank, b->dim);
    return true;
}

static const struct onnx_shape *declared_shape(const struct importer *im, size_t input)
{
    const struct onnx_value_info *info = im->source->inputs.items[input];
    const struct onnx_shape *shape = info->type && info->type->tensor ? info->type->tensor->shape : NULL;
    return shape && shape->dimensions.count <= MAX_RANK ? shape : NULL;
}

// The types of other values follow from the symbols in their shapes, so a symbol has one size.
static bool learn_symbol(struct importer *im, const struct onnx_string *name, int64_t size)
{
    int64_t known = size_of_symbol(im, name);
    if (name->size && known < 0)
        vec_push(&im->symbols, ((struct bound_symbol){name, size}));
    return known < 0 || known == size ||
           error_set_code(im->error, EXIT_USAGE, NULL,
                          "--shape: the symbolic dimension %s is given two sizes, %" PRId64 " and %" PRId64, name->text,
                          known, size);
}

// `--shape batch=8` gives a symbolic dimension its size.
static bool bind_symbol(struct importer *im, struct binding *b, size_t input)
{
    const struct onnx_shape *shape = declared_shape(im, input);
    for (size_t i = 0; shape && i < shape->dimensions.count; i++) {
        const struct onnx_dimension *d = shape->dimensions.items[i];
        if (ONNX_HAS(d, 1) || !onnx_symbol(d)->size || !is_for(b, onnx_symbol(d)))
            continue;
        if (b->rank != 1)
            return bad_binding(im, b, "a symbolic dimension has one size");
        if (!learn_symbol(im, onnx_symbol(d), b->dim[0]))
            return false;
        b->is_used = true;
    }
    return true;
}

static bool bind_one(struct importer *im, struct binding *b, struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        const struct onnx_value_info *input = im->source->inputs.items[i];
        if (is_for(b, &input->name))
            return bind_input(im, b, &types[i]);
    }
    return ALL(size_t, i, im->source->inputs.count, bind_symbol(im, b, i)) &&
           (b->is_used || bad_binding(im, b, "names no input and no symbolic dimension of the model"));
}

static bool learn_symbols_of_input(struct importer *im, size_t input, const struct type *type)
{
    const struct onnx_shape *shape = declared_shape(im, input);
    for (int k = 0; shape && type->rank != RANK_UNKNOWN && k < type->rank; k++) {
        const struct onnx_dimension *d = shape->dimensions.items[k];
        if (type->dim[k] >= 0 && !learn_symbol(im, onnx_symbol(d), type->dim[k]))
            return false;
    }
    return true;
}

// Symbols that a bound input gives sizes hold for the other inputs too.
static bool spread_symbols(struct importer *im, struct type *types)
{
    if (ANY(size_t, i, im->source->inputs.count, !learn_symbols_of_input(im, i, &types[i])))
        return false;
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        const struct onnx_shape *shape = declared_shape(im, i);
        for (int k = 0; shape && types[i].rank != RANK_UNKNOWN && k < types[i].rank; k++)
            if (types[i].dim[k] < 0)
                types[i].dim[k] = dimension_of(im, shape->dimensions.items[k]);
    }
    return true;
}

// A type of known rank that is too large now was made so by --shape.
static bool limit_types(struct importer *im, struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        struct type limited = type_within_limits(types[i]);
        if (limited.rank != types[i].rank)
            return error_set_code(im->error, EXIT_USAGE, NULL, "--shape: input %s would be larger than any memory",
                                  ((const struct onnx_value_info *)im->source->inputs.items[i])->name.text);
        types[i] = limited;
    }
    return true;
}

// ---- symbols that stay ----

static bool has_symbol(const struct imported_model *m, const char *name)
{
    return ANY(size_t, i, m->symbols.list.count, strcmp(m->symbols.list.items[i].name, name) == 0);
}

static bool is_stated(const struct importer *im, const char *name)
{
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        const struct onnx_shape *shape = declared_shape(im, i);
        for (size_t k = 0; shape && k < shape->dimensions.count; k++)
            if (onnx_string_is(&((const struct onnx_dimension *)shape->dimensions.items[k])->symbol, name))
                return true;
    }
    return false;
}

// A dimension without a name is INPUT[AXIS], or with marks after it where the model calls another one so.
static const char *name_of_dimension(struct importer *im, const struct onnx_value_info *input, int axis)
{
    const struct onnx_dimension *d = input->type->tensor->shape->dimensions.items[axis];
    if (onnx_symbol(d)->size)
        return onnx_symbol(d)->text;
    const char *name = arena_printf(&im->model->arena, "%s[%d]", input->name.text, axis);
    while (is_stated(im, name))
        name = arena_printf(&im->model->arena, "%s'", name);
    return name;
}

bool find_symbols(struct importer *im, const struct type *types, struct imported_model *ret_model)
{
    size_t next = 0;
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        const struct onnx_value_info *input = im->source->inputs.items[i];
        if (onnx_graph_initializes(im->source, &input->name))
            continue;
        for (int k = 0; k < types[i].rank; k++) {
            const char *name = types[i].dim[k] < 0 ? name_of_dimension(im, input, k) : NULL;
            if (name && !has_symbol(ret_model, name))
                vec_push(&ret_model->symbols.list, ((struct imported_symbol){name, next, k}));
        }
        next++;
    }
    return ret_model->symbols.list.count <= MAX_SYMBOLS;
}

// Symbols at one of the probes; those without a name, too.
static void bind_probe(struct importer *im, struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        const struct onnx_value_info *input = im->source->inputs.items[i];
        for (int k = 0; k < types[i].rank && !onnx_graph_initializes(im->source, &input->name); k++) {
            const char *name = types[i].dim[k] < 0 ? name_of_dimension(im, input, k) : NULL;
            for (size_t j = 0; name && j < im->part.named->symbols.list.count; j++)
                if (strcmp(im->part.named->symbols.list.items[j].name, name) == 0)
                    types[i].dim[k] = im->part.named->symbols.sizes.probes[im->part.probe][j];
        }
    }
    for (size_t i = 0; i < im->source->inputs.count; i++)
        learn_symbols_of_input(im, i, &types[i]);
}

bool axis_varies(const struct conversion *c, tensor_id tensor, int axis)
{
    const struct importer *peers = c->importer->part.peers;
    return peers && ANY(int, k, N_PROBES,
                        graph_type(&peers[k].model->graph, tensor)->dim[axis] !=
                            graph_type(&peers[0].model->graph, tensor)->dim[axis]);
}

bool bind_shapes(struct importer *im, struct type *ret_types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++)
        ret_types[i] = type_from_onnx(im, ((const struct onnx_value_info *)im->source->inputs.items[i])->type);
    for (size_t i = 0; i < im->options->shape_count; i++) {
        struct binding b;
        if (!parse_binding(im, im->options->shapes[i], &b) || !bind_one(im, &b, ret_types))
            return false;
    }
    if (!spread_symbols(im, ret_types))
        return false;
    if (im->part.named)
        bind_probe(im, ret_types);
    return limit_types(im, ret_types);
}
