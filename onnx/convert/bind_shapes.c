// Sizes of symbolic dimensions: --shape options bind some, the rest stay symbols that are bound at each probe.
#include "onnx/convert/bind_shapes.h"

#include "core/memory/vec.h"
#include "core/text/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct binding {
    const char *text;   // the whole option
    size_t name_size;
    int rank;
    int64_t dim[MAX_RANK];
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

// ---- names of dimensions ----

static const struct onnx_value_info *input_at(const struct importer *im, size_t input)
{
    return im->source->inputs.items[input];
}

static bool states(const struct onnx_value_info *input, const char *name)
{
    const struct onnx_shape *shape = input->type && input->type->tensor ? input->type->tensor->shape : NULL;
    return shape && ONNX_FIND(struct onnx_dimension, d, &shape->dimensions, onnx_string_is(&d->symbol, name));
}

// A dimension without a name is INPUT[AXIS], or with marks after it where the model calls another one so.
static const char *name_of_dimension(struct importer *im, size_t input, int axis)
{
    const struct onnx_dimension *d = input_at(im, input)->type->tensor->shape->dimensions.items[axis];
    if (onnx_symbol(d)->size)
        return onnx_symbol(d)->text;
    const char *name = arena_printf(&im->model->arena, "%s[%d]", input_at(im, input)->name.text, axis);
    while (ONNX_FIND(struct onnx_value_info, other, &im->source->inputs, states(other, name)))
        name = arena_printf(&im->model->arena, "%s'", name);
    return name;
}

// ---- symbols that are bound ----

// The types of other values follow from the symbols in their shapes, so a symbol has one size.
static bool learn_symbol(struct importer *im, const char *name, int64_t size)
{
    const struct bound_symbol *known = vec_find(&im->symbols, s, strcmp(s->name, name) == 0);
    if (!known)
        vec_push(&im->symbols, ((struct bound_symbol){name, size}));
    return !known || known->size == size ||
           error_set_code(im->error, EXIT_USAGE, NULL,
                          "--shape: the symbolic dimension %s is given two sizes, %" PRId64 " and %" PRId64, name,
                          known->size, size);
}

static bool bind_input(struct importer *im, const struct binding *b, size_t input, struct type *type)
{
    if (type->rank == RANK_UNKNOWN)
        *type = type_make(type->dtype, b->rank, b->dim);
    if (type->rank != b->rank)
        return bad_binding(im, b, "has another number of sizes than the model says");
    for (int i = 0; i < b->rank; i++)
        if (type->dim[i] >= 0 && type->dim[i] != b->dim[i])
            return bad_binding(im, b, "contradicts a size that the model fixes");
        else if (type->dim[i] < 0 && !learn_symbol(im, name_of_dimension(im, input, i), b->dim[i]))
            return false;
    return true;
}

// `--shape batch=8` gives a symbolic dimension its size. NULL: there is none of that name.
static const char *find_symbol(struct importer *im, const struct binding *b, const struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++)
        for (int k = 0; k < types[i].rank; k++) {
            const char *name = types[i].dim[k] < 0 ? name_of_dimension(im, i, k) : NULL;
            if (name && is_for(b, &(struct onnx_string){name, strlen(name)}))
                return name;
        }
    return NULL;
}

static bool bind_one(struct importer *im, const struct binding *b, struct type *types)
{
    size_t input = FIRST_OF(size_t, i, im->source->inputs.count, is_for(b, &input_at(im, i)->name));
    if (input < im->source->inputs.count)
        return bind_input(im, b, input, &types[input]);
    const char *symbol = find_symbol(im, b, types);
    if (!symbol)
        return bad_binding(im, b, "names no input and no symbolic dimension of the model");
    return b->rank == 1 ? learn_symbol(im, symbol, b->dim[0]) : bad_binding(im, b, "a symbolic dimension has one size");
}

static void fill_in_symbols(struct importer *im, struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++)
        for (int k = 0; k < types[i].rank; k++) {
            const char *name = types[i].dim[k] < 0 ? name_of_dimension(im, i, k) : NULL;
            const struct bound_symbol *bound = name ? vec_find(&im->symbols, s, strcmp(s->name, name) == 0) : NULL;
            types[i].dim[k] = bound ? bound->size : types[i].dim[k];
        }
}

// A type of known rank that is too large now was made so by --shape.
static bool limit_types(struct importer *im, struct type *types)
{
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        struct type limited = type_within_limits(types[i]);
        if (limited.rank != types[i].rank)
            return error_set_code(im->error, EXIT_USAGE, NULL, "--shape: input %s would be larger than any memory",
                                  input_at(im, i)->name.text);
        types[i] = limited;
    }
    return true;
}

// ---- symbols that stay ----

bool find_symbols(struct importer *im, const struct type *types, struct imported_model *ret_model)
{
    size_t next = 0;
    for (size_t i = 0; i < im->source->inputs.count; i++) {
        if (onnx_graph_initializes(im->source, &input_at(im, i)->name))
            continue;
        for (int k = 0; k < types[i].rank; k++) {
            const char *name = types[i].dim[k] < 0 ? name_of_dimension(im, i, k) : NULL;
            if (name && !vec_find(&ret_model->symbols.list, s, strcmp(s->name, name) == 0))
                vec_push(&ret_model->symbols.list, ((struct imported_symbol){name, next, k}));
        }
        next++;
    }
    return ret_model->symbols.list.count <= MAX_SYMBOLS;
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
        ret_types[i] = type_from_onnx(im, input_at(im, i)->type);
    for (size_t i = 0; i < im->options->shape_count; i++) {
        struct binding b;
        if (!parse_binding(im, im->options->shapes[i], &b) || !bind_one(im, &b, ret_types))
            return false;
    }
    for (size_t i = 0; im->part.named && i < im->part.named->symbols.list.count; i++)
        learn_symbol(im, im->part.named->symbols.list.items[i].name, im->part.binding[i]);
    fill_in_symbols(im, ret_types);
    return limit_types(im, ret_types);
}
