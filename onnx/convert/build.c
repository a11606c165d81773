// Building graph nodes for converters, and reading what converters need of a node.
#include "core/memory/hash.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "onnx/convert/importer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cannot(struct conversion *c, const char *format, ...)
{
    va_list arguments;
    if (c->reason[0])
        return false;
    va_start(arguments, format);
    vsnprintf(c->reason, sizeof c->reason, format, arguments);
    va_end(arguments);
    return false;
}

bool give(struct conversion *c, uint32_t output, tensor_id tensor)
{
    if (tensor == NO_TENSOR)
        return cannot(c, "the result has no type");
    if (output >= c->n_outputs)
        return cannot(c, "the node has too few outputs");
    c->outputs[output] = tensor;
    return true;
}

void keep_rewritten(struct conversion *c)
{
    c->is_rewritten = true;
}

tensor_id input_of(const struct conversion *c, uint32_t input)
{
    return input < c->n_inputs ? c->inputs[input] : NO_TENSOR;
}

bool wants_output(const struct conversion *c, uint32_t output)
{
    const struct named_value *value =
        output < c->n_outputs ? name_find(c->importer, &c->node->outputs.items[output]) : NULL;
    return value && value->uses > 0;
}

const struct type *type_of(const struct conversion *c, tensor_id tensor)
{
    return graph_type(&c->model->graph, tensor);
}

bool has_known_inputs(struct conversion *c, uint32_t n)
{
    for (uint32_t i = 0; i < n || i < c->n_inputs; i++) {
        if (input_of(c, i) == NO_TENSOR && i >= n)
            continue;
        if (input_of(c, i) == NO_TENSOR)
            return cannot(c, "input %u is missing", i + 1);
        const struct type *t = type_of(c, c->inputs[i]);
        if (!type_is_known(t))
            return cannot(c, "the type of input %u is not known", i + 1);
        if (!dtype_has_numbers(t->dtype))
            return cannot(c, "input %u has elements of type %s", i + 1, dtype_name(t->dtype));
    }
    return true;
}

// ---- attributes ----

int64_t int_attribute(const struct conversion *c, const char *name, int64_t standard)
{
    return onnx_node_int(c->node, name, standard);
}

double float_attribute(const struct conversion *c, const char *name, double standard)
{
    return onnx_node_float(c->node, name, standard);
}

bool has_attribute(const struct conversion *c, const char *name)
{
    return onnx_node_find(c->node, name) != NULL;
}

const int64_t *ints_attribute(const struct conversion *c, const char *name, uint32_t *ret_count)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    *ret_count = a ? (uint32_t)a->ints.count : 0;
    return a ? a->ints.items : NULL;
}

bool list_within(struct conversion *c, const char *name, int n, int64_t standard, int64_t low, int64_t high,
                 int64_t *ret_items)
{
    uint32_t count;
    const int64_t *items = ints_attribute(c, name, &count);
    if (count != 0 && count != (uint32_t)n)
        return cannot(c, "%s has %u entries", name, count);
    for (int i = 0; i < n; i++) {
        ret_items[i] = count ? items[i] : standard;
        if (ret_items[i] < low || ret_items[i] > high)
            return cannot(c, "%s is out of range", name);
    }
    return true;
}

bool text_attribute_is(const struct conversion *c, const char *name, const char *text, const char *standard)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? onnx_bytes_are(&a->s, text) : strcmp(text, standard) == 0;
}

// ---- constants ----

bool is_weight(const struct conversion *c, tensor_id tensor)
{
    return tensor != NO_TENSOR && weight_of(c->model, tensor) != NULL;
}

bool is_constant(struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    struct importer *im = c->importer;
    if (tensor == NO_TENSOR)
        return false;
    node_id wanted = g->tensors.items[tensor].producer;
    for (node_id n = (node_id)im->is_constant.count; n <= wanted; n++) {
        const struct node *node = &g->nodes.items[n];
        bool is_it = node->op->id == OP_WEIGHT || node->op->define;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            is_it &= im->is_constant.items[g->tensors.items[graph_inputs(g, n)[i]].producer];
        vec_push(&im->is_constant, is_it);
    }
    return im->is_constant.items[wanted];
}

static bool constant_elements(struct conversion *c, tensor_id tensor, size_t limit, const void **ret_data,
                              const struct type **ret_type)
{
    struct error ignored;
    if (!is_weight(c, tensor))
        return cannot(c, "an input that sets sizes or parameters is not constant");
    *ret_type = type_of(c, tensor);
    if (!type_is_known(*ret_type) || (size_t)type_elements(*ret_type) > limit ||
        !imported_weight_data(c->model, (size_t)graph_producer(&c->model->graph, tensor)->attributes[0].ints[0],
                              ret_data, &ignored))
        return cannot(c, "a constant input cannot be read");
    return true;
}

bool constant_ints(struct conversion *c, tensor_id tensor, size_t limit, const int64_t **ret_items, uint32_t *ret_count)
{
    const void *data;
    const struct type *type;
    if (!constant_elements(c, tensor, limit, &data, &type))
        return false;
    size_t n = (size_t)type_elements(type);
    int64_t *items = arena_array(&c->importer->scratch, int64_t, n + 1);
    elements_to_integers(type->dtype, data, n, items);
    *ret_items = items;
    *ret_count = (uint32_t)n;
    return true;
}

bool constant_reals(struct conversion *c, tensor_id tensor, size_t limit, const double **ret_items, uint32_t *ret_count)
{
    const void *data;
    const struct type *type;
    if (!constant_elements(c, tensor, limit, &data, &type))
        return false;
    size_t n = (size_t)type_elements(type);
    if (!elements_fit_reals(type->dtype, data, n))
        return cannot(c, "a constant integer has more digits than are computed with");
    double *items = arena_array(&c->importer->scratch, double, n + 1);
    elements_to_reals(type->dtype, data, n, items);
    *ret_items = items;
    *ret_count = (uint32_t)n;
    return true;
}

bool is_filled_with(struct conversion *c, tensor_id tensor, double value)
{
    double first;
    const void *data;
    const struct type *type;
    if (!is_weight(c, tensor) || !dtype_has_numbers(type_of(c, tensor)->dtype) ||
        !constant_elements(c, tensor, MAX_ELEMENTS, &data, &type) || type_elements(type) < 1)
        return false;
    size_t bytes = type_bytes(type), size = bytes / (size_t)type_elements(type);
    elements_to_reals(type->dtype, data, 1, &first);
    return first == value && memcmp(data, (const char *)data + size, bytes - size) == 0;
}

bool list_of(struct conversion *c, const char *attribute, uint32_t input, const int64_t **ret_items,
             uint32_t *ret_count)
{
    *ret_items = ints_attribute(c, attribute, ret_count);
    if (*ret_items || input_of(c, input) == NO_TENSOR)
        return true;
    return constant_ints(c, input_of(c, input), MAX_OUTPUTS, ret_items, ret_count);
}

// ---- applications ----

struct application application_of(struct conversion *c, enum operator_id op)
{
    struct application a = {.op = operators[op]};
    operator_standard_attributes(a.op, &c->importer->scratch, a.values);
    return a;
}

void set_ints(struct conversion *c, struct application *a, const char *name, uint32_t count, const int64_t *values)
{
    int i = operator_find_attribute(a->op, name);
    assert(i >= 0);
    int64_t *copy = arena_array(&c->importer->scratch, int64_t, count + 1);
    if (count)
        memcpy(copy, values, count * sizeof *copy);
    a->values[i] = (struct attribute_value){count, copy};
}

void set_int(struct conversion *c, struct application *a, const char *name, int64_t value)
{
    set_ints(c, a, name, 1, &value);
}

void set_real(struct conversion *c, struct application *a, const char *name, double value)
{
    set_int(c, a, name, real_to_bits(value));
}

// Integers of 64 bits without sign are computed with as if they had one: sums, products and what only moves do not show
// it.
static bool shows_sign(const struct definition *d)
{
    static const bool shows_none[FN_COUNT] = {[FN_ADD] = true,   [FN_SUB] = true,   [FN_MUL] = true, [FN_NEG] = true,
                                              [FN_EQUAL] = true, [FN_WHERE] = true, [FN_NOT] = true};
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *e = &d->nodes.items[i];
        if ((e->kind == EXPR_APPLY || e->kind == EXPR_REDUCE) && !shows_none[e->fn])
            return true;
    }
    return false;
}

static bool has_wrong_sign(struct conversion *c, node_id node, uint32_t n, const tensor_id *inputs)
{
    struct definition d;
    bool has_unsigned = false;
    for (uint32_t i = 0; i < n; i++)
        has_unsigned = has_unsigned || type_of(c, inputs[i])->dtype == DTYPE_U64;
    if (!has_unsigned)
        return false;
    bool is_wrong = !graph_define(&c->model->graph, node, &d, &c->importer->scratch) || shows_sign(&d);
    definition_free(&d);
    return is_wrong;
}

node_id apply_node(struct conversion *c, const struct application *a, uint32_t n, const tensor_id *inputs)
{
    struct graph *g = &c->model->graph;
    node_id node;
    for (uint32_t i = 0; i < n; i++)
        if (inputs[i] == NO_TENSOR)
            return NO_NODE;
    if (!graph_add(g, a->op, a->values, n, inputs, &node)) {
        cannot(c, "%s", graph_refusal(g));
        return NO_NODE;
    }
    graph_set_origin(g, node, c->index);
    if (has_wrong_sign(c, node, n, inputs)) {
        cannot(c, "it asks for the order of unsigned integers of 64 bits");
        return NO_NODE;
    }
    return node;
}

tensor_id apply(struct conversion *c, const struct application *a, uint32_t n, const tensor_id *inputs)
{
    node_id node = apply_node(c, a, n, inputs);
    return node == NO_NODE ? NO_TENSOR : graph_output_of(&c->model->graph, node, 0);
}

tensor_id apply1(struct conversion *c, const struct application *a, tensor_id x)
{
    return apply(c, a, 1, &x);
}

tensor_id apply2(struct conversion *c, const struct application *a, tensor_id x, tensor_id y)
{
    return apply(c, a, 2, (tensor_id[]){x, y});
}

tensor_id unary(struct conversion *c, enum operator_id op, tensor_id x)
{
    struct application a = application_of(c, op);
    return apply1(c, &a, x);
}

tensor_id binary(struct conversion *c, enum operator_id op, tensor_id x, tensor_id y)
{
    struct application a = application_of(c, op);
    return apply2(c, &a, x, y);
}

static bool has_shape(const struct type *t, int rank, const int64_t *dim)
{
    struct type wanted = type_make(t->dtype, rank, dim);
    return type_equal_shape(t, &wanted);
}

tensor_id broadcast_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim)
{
    if (x == NO_TENSOR || has_shape(type_of(c, x), rank, dim))
        return x;
    struct application a = application_of(c, OP_BROADCAST);
    set_ints(c, &a, "shape", (uint32_t)rank, dim);
    return apply1(c, &a, x);
}

tensor_id reshape_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim)
{
    if (x == NO_TENSOR || has_shape(type_of(c, x), rank, dim))
        return x;
    struct application a = application_of(c, OP_RESHAPE);
    set_ints(c, &a, "shape", (uint32_t)rank, dim);
    return apply1(c, &a, x);
}

tensor_id transpose_by(struct conversion *c, tensor_id x, const int64_t *perm)
{
    if (x == NO_TENSOR)
        return x;
    struct application a = application_of(c, OP_TRANSPOSE);
    set_ints(c, &a, "perm", (uint32_t)type_of(c, x)->rank, perm);
    return apply1(c, &a, x);
}

tensor_id cast_to(struct conversion *c, tensor_id x, enum dtype dtype)
{
    if (x == NO_TENSOR || type_of(c, x)->dtype == dtype)
        return x;
    struct application a = application_of(c, OP_CAST);
    set_int(c, &a, "to", dtype);
    return apply1(c, &a, x);
}

enum dtype dtype_of_stages(enum dtype dtype)
{
    return dtype_is_float(dtype) && dtype_size(dtype) == 2 ? DTYPE_F32 : dtype;
}

// ---- weights made here ----

tensor_id real_weight(struct conversion *c, enum dtype dtype, int rank, const int64_t *dim, const double *values)
{
    struct type type = type_make(dtype, rank, dim);
    void *data = arena_alloc(&c->model->arena, type_bytes(&type) + 1, _Alignof(max_align_t));
    elements_from_reals(dtype, values, (size_t)type_elements(&type), data);
    return imported_model_add_weight(c->model, &type, data);
}

tensor_id int_weight(struct conversion *c, int rank, const int64_t *dim, const int64_t *values)
{
    struct type type = type_make(DTYPE_I64, rank, dim);
    void *data = arena_alloc(&c->model->arena, type_bytes(&type) + 1, _Alignof(max_align_t));
    elements_from_integers(DTYPE_I64, values, (size_t)type_elements(&type), data);
    return imported_model_add_weight(c->model, &type, data);
}

struct scalar {
    enum dtype dtype;
    uint8_t data[8];
};

static uint64_t hash_of_scalar(enum dtype dtype, const void *data)
{
    return hash_bytes(data, dtype_size(dtype), dtype);
}

static bool is_scalar(const void *owner, uint32_t id, const void *key)
{
    const struct imported_weight *w = &((const struct imported_model *)owner)->weights.items[id];
    const struct scalar *s = key;
    return w->type.dtype == s->dtype && memcmp(w->data, s->data, dtype_size(s->dtype)) == 0;
}

static uint32_t find_scalar(const struct importer *im, const struct scalar *s)
{
    return table_find(&im->scalars, hash_of_scalar(s->dtype, s->data), is_scalar, im->model, s);
}

// Weights that were added since the last time: those of rank 0 that were made here are found from now on.
static void note_scalars(struct importer *im)
{
    for (; im->n_weights_noted < im->model->weights.count; im->n_weights_noted++) {
        const struct imported_weight *w = &im->model->weights.items[im->n_weights_noted];
        struct scalar s = {.dtype = w->type.dtype};
        if (w->tensor || !w->data || w->is_of_binding || w->type.rank != 0 || dtype_size(s.dtype) > sizeof s.data)
            continue;
        memcpy(s.data, w->data, dtype_size(s.dtype));
        if (find_scalar(im, &s) == TABLE_NONE)
            table_insert(&im->scalars, hash_of_scalar(s.dtype, s.data), (uint32_t)im->n_weights_noted);
    }
}

// One weight per value and type, so that equal applications stay equal.
tensor_id scalar_constant(struct conversion *c, enum dtype dtype, double value)
{
    struct scalar s = {.dtype = dtype};
    elements_from_reals(dtype, &value, 1, s.data);
    note_scalars(c->importer);
    uint32_t id = find_scalar(c->importer, &s);
    if (id == TABLE_NONE)
        return real_weight(c, dtype, 0, NULL, &value);
    return graph_add_leaf(&c->model->graph, operators[OP_WEIGHT], id, &c->model->weights.items[id].type);
}

tensor_id constant_like(struct conversion *c, tensor_id like, double value)
{
    if (like == NO_TENSOR)
        return like;
    struct type type = *type_of(c, like);
    return broadcast_to(c, scalar_constant(c, type.dtype, value), type.rank, type.dim);
}

tensor_id add_scalar(struct conversion *c, tensor_id x, double value)
{
    return value == 0 ? x : binary(c, OP_EWADD, x, constant_like(c, x, value));
}

tensor_id scale_by(struct conversion *c, tensor_id x, double value)
{
    if (x == NO_TENSOR || value == 1)
        return x;
    return binary(c, OP_EWMUL, x, constant_like(c, x, value));
}

tensor_id spread_along(struct conversion *c, tensor_id vector, int axis, tensor_id like)
{
    if (vector == NO_TENSOR || like == NO_TENSOR)
        return NO_TENSOR;
    struct type type = *type_of(c, like);
    int64_t dim[MAX_RANK] = {type.dim[axis]};
    int rank = type.rank - axis;
    for (int i = 1; i < rank; i++)
        dim[i] = 1;
    return broadcast_to(c, reshape_to(c, vector, rank, dim), type.rank, type.dim);
}

// ---- shapes ----

bool common_shape(struct conversion *c, const struct type *a, const struct type *b, int *ret_rank, int64_t *ret_dim)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dim[MAX_RANK];   // the result may be one of the two
    for (int i = 0; i < rank; i++) {
        int64_t x = i < rank - a->rank ? 1 : a->dim[i - (rank - a->rank)];
        int64_t y = i < rank - b->rank ? 1 : b->dim[i - (rank - b->rank)];
        c->is_unfit |= x != y && x != 1 && y != 1;
        if (x != y && x != 1 && y != 1)
            return cannot(c, "the shapes cannot be broadcast to one");
        dim[i] = x == 1 ? y : x;
    }
    for (int i = 0; i < rank; i++)
        ret_dim[i] = dim[i];
    *ret_rank = rank;
    return true;
}

bool normalize_axis(struct conversion *c, int64_t axis, int rank, int *ret_axis)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return cannot(c, "there is no axis %lld", (long long)axis);
    *ret_axis = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool axes_of_list(struct conversion *c, int rank, uint32_t n, int *ret_axes)
{
    uint32_t count, seen = 0;
    const int64_t *named = ints_attribute(c, "axes", &count);
    if (n != (has_attribute(c, "axes") ? count : (uint32_t)rank))
        return cannot(c, "a list has not as many entries as there are axes");
    for (uint32_t i = 0; i < n; i++) {
        if (!normalize_axis(c, named ? named[i] : (int64_t)i, rank, &ret_axes[i]))
            return false;
        if (seen >> ret_axes[i] & 1)
            return cannot(c, "an axis is named twice");
        seen |= UINT32_C(1) << ret_axes[i];
    }
    return true;
}
