// Graph nodes for converters.
#include "onnx/convert/build.h"

#include "expressions/elements.h"
#include "graph/graph_whole.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/read_node.h"
#include "operators/traits.h"

#include <assert.h>
#include <string.h>

// ---- applications ----

struct application application_of(struct conversion *c, enum operator_id op)
{
    struct application a = {.op = operators[op]};
    operator_standard_attributes(a.op, &c->importer->scratch, a.values);
    return a;
}

struct application application_at(const struct conversion *c, node_id n)
{
    const struct node *node = &c->model->graph.nodes.items[n];
    struct application a = {.op = node->op};
    for (int i = 0; i < operator_n_attributes(a.op); i++)
        a.values[i] = node->attributes[i];
    return a;
}

void set_attributes(struct conversion *c, struct application *a, const struct given_attribute *given)
{
    for (; given && given->name; given++) {
        int i = operator_find_attribute(a->op, given->name);
        assert(i >= 0);
        int64_t *copy = arena_array(&c->importer->scratch, int64_t, given->count + 1);
        if (given->count)
            memcpy(copy, given->list ? given->list : &given->number, (size_t)given->count * sizeof *copy);
        a->values[i] = (struct attribute_value){(uint32_t)given->count, copy};
    }
}

// Integers of 64 bits without sign are computed with as if they had one: sums, products and what only moves do not show
// it.
static bool shows_sign(const struct definition *d)
{
    static const bool shows_none[FN_COUNT] = {[FN_ADD] = true,   [FN_SUB] = true,   [FN_MUL] = true, [FN_NEG] = true,
                                              [FN_EQUAL] = true, [FN_WHERE] = true, [FN_NOT] = true};
    return vec_find(&d->nodes, e, (e->kind == EXPR_APPLY || e->kind == EXPR_REDUCE) && !shows_none[e->fn]) != NULL;
}

static bool has_wrong_sign(struct conversion *c, node_id node, size_t n, const tensor_id *inputs)
{
    struct definition d FREED_BY(definition_free) = {0};
    bool has_unsigned = ANY(size_t, i, n, type_of(c, inputs[i])->dtype == DTYPE_U64);
    return has_unsigned && (!graph_define(&c->model->graph, node, &d, &c->importer->scratch) || shows_sign(&d));
}

node_id apply_node(struct conversion *c, const struct application *a, size_t n, const tensor_id *inputs)
{
    struct graph *g = &c->model->graph;
    node_id node;
    for (size_t i = 0; i < n; i++)
        if (inputs[i] == NO_TENSOR)
            return NO_NODE;
    if (!graph_add(g, a->op, a->values, (uint32_t)n, inputs, &node)) {
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

// The tensor that the operator would make of its own result: that, or the input; NO_TENSOR: something else.
static tensor_id made_by_repetition(const struct conversion *c, const struct application *a, size_t n,
                                    const tensor_id *inputs)
{
    const struct graph *g = &c->model->graph;
    const struct node *before = n == 1 && inputs[0] != NO_TENSOR ? graph_producer(g, inputs[0]) : NULL;
    if (!before || before->op != a->op || !attributes_equal(a->op, before->attributes, a->values))
        return NO_TENSOR;
    return operator_has(a->op, TRAIT_INVOLUTION)   ? g->edges.items[before->first_input]
           : operator_has(a->op, TRAIT_IDEMPOTENT) ? inputs[0]
                                                   : NO_TENSOR;
}

tensor_id apply_application(struct conversion *c, const struct application *a, size_t n, const tensor_id *inputs)
{
    tensor_id repeated = made_by_repetition(c, a, n, inputs);
    if (repeated != NO_TENSOR) {
        c->is_rewritten = true;
        return repeated;
    }
    node_id node = apply_node(c, a, n, inputs);
    return node == NO_NODE ? NO_TENSOR : graph_output_of(&c->model->graph, node, 0);
}

tensor_id apply(struct conversion *c, enum operator_id op, size_t n, const tensor_id *inputs,
                const struct given_attribute *given)
{
    struct application a = application_of(c, op);
    set_attributes(c, &a, given);
    return apply_application(c, &a, n, inputs);
}

tensor_id unary(struct conversion *c, enum operator_id op, tensor_id x)
{
    return apply(c, op, INPUTS(x), NULL);
}

static bool has_shape(const struct type *t, int rank, const int64_t *dim)
{
    struct type wanted = type_make(t->dtype, rank, dim);
    return type_equal_shape(t, &wanted);
}

static tensor_id give_shape(struct conversion *c, enum operator_id op, tensor_id x, int rank, const int64_t *dim)
{
    if (x == NO_TENSOR || has_shape(type_of(c, x), rank, dim))
        return x;
    return apply(c, op, INPUTS(x), WITH(list("shape", rank, dim)));
}

tensor_id broadcast_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim)
{
    return give_shape(c, OP_BROADCAST, x, rank, dim);
}

tensor_id reshape_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim)
{
    return give_shape(c, OP_RESHAPE, x, rank, dim);
}

tensor_id transpose_by(struct conversion *c, tensor_id x, const int64_t *perm)
{
    if (ALL(int, i, type_of(c, x)->rank, perm[i] == i))
        return x;
    return apply(c, OP_TRANSPOSE, INPUTS(x), WITH(list("perm", type_of(c, x)->rank, perm)));
}

tensor_id cast_to(struct conversion *c, tensor_id x, enum dtype dtype)
{
    if (x == NO_TENSOR || type_of(c, x)->dtype == dtype)
        return x;
    return apply(c, OP_CAST, INPUTS(x), WITH(integer("to", dtype)));
}

tensor_id binary(struct conversion *c, enum operator_id op, tensor_id x, tensor_id y)
{
    struct type z;
    if (x == NO_TENSOR || y == NO_TENSOR || !common_shape(c, type_of(c, x), type_of(c, y), &z))
        return NO_TENSOR;
    y = broadcast_to(c, y, z.rank, z.dim);
    return apply(c, op, INPUTS(broadcast_to(c, x, z.rank, z.dim), y), NULL);
}

tensor_id clip_between(struct conversion *c, tensor_id x, double low, double high)
{
    return apply(c, OP_CLIP, INPUTS(x), WITH(real("min", low), real("max", high)));
}

tensor_id reduce_by(struct conversion *c, enum operator_id op, tensor_id x, const struct axes *axes, bool keeps_axes)
{
    if (axes->is_nothing || x == NO_TENSOR)
        return x;
    return apply(c, op, INPUTS(x), WITH(list("axes", axes->count, axes->axis), integer("keepdims", keeps_axes)));
}

tensor_id part_of(struct conversion *c, tensor_id x, int axis, int64_t start, int64_t size)
{
    static const int64_t steps[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct type part = *type_of(c, x);
    int64_t starts[MAX_RANK] = {0};
    starts[axis] = start;
    part.dim[axis] = size;
    return apply(
        c, OP_SLICE, INPUTS(x),
        WITH(list("start", part.rank, starts), list("size", part.rank, part.dim), list("step", part.rank, steps)));
}

enum dtype dtype_of_stages(enum dtype dtype)
{
    return dtype_is_float(dtype) && dtype_size(dtype) == 2 ? DTYPE_F32 : dtype;
}

// ---- products of matrices ----

tensor_id matmul(struct conversion *c, tensor_id x, tensor_id y)
{
    return apply(c, OP_MATMUL, INPUTS(x, y), NULL);
}

// Leading axes of both are made equal; a right side that is one matrix for all stays one.
static bool align_batches(struct conversion *c, tensor_id *x, tensor_id *y)
{
    struct type tx = *type_of(c, *x), ty = *type_of(c, *y), z;
    if (ty.rank == 2)
        return true;
    tx.rank -= 2;
    ty.rank -= 2;
    if (!common_shape(c, &tx, &ty, &z) || z.rank + 2 > MAX_RANK)
        return cannot(c, "its batches cannot be broadcast to one");
    memcpy(&z.dim[z.rank], &tx.dim[tx.rank], 2 * sizeof *z.dim);
    *x = broadcast_to(c, *x, z.rank + 2, z.dim);
    memcpy(&z.dim[z.rank], &ty.dim[ty.rank], 2 * sizeof *z.dim);
    *y = broadcast_to(c, *y, z.rank + 2, z.dim);
    return *x != NO_TENSOR && *y != NO_TENSOR;
}

// A vector is a row on the left and a column on the right; its axis is dropped from the result.
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y)
{
    struct type tx = *type_of(c, x), ty = *type_of(c, y);
    if (tx.rank == 0 || ty.rank == 0)
        return no_tensor(c, "a factor is a scalar");
    if (tx.rank == 1)
        x = reshape_to(c, x, 2, (int64_t[]){1, tx.dim[0]});
    if (ty.rank == 1)
        y = reshape_to(c, y, 2, (int64_t[]){ty.dim[0], 1});
    if (!align_batches(c, &x, &y))
        return NO_TENSOR;
    tensor_id z = matmul(c, x, y);
    if (z == NO_TENSOR || (tx.rank > 1 && ty.rank > 1))
        return z;
    struct type tz = *type_of(c, z);
    int64_t dim[MAX_RANK];
    int rank = 0;
    for (int i = 0; i < tz.rank; i++)
        if (!(tx.rank == 1 && i == tz.rank - 2) && !(ty.rank == 1 && i == tz.rank - 1))
            dim[rank++] = tz.dim[i];
    return reshape_to(c, z, rank, dim);
}

// ---- weights made here ----

bool give_weight(struct conversion *c, struct imported_weight weight)
{
    weight.name = c->node->outputs.items[0].text;
    return give(c, 0, weight_add(c->model, weight));
}

tensor_id real_weight(struct conversion *c, enum dtype dtype, int rank, const int64_t *dim, const double *values)
{
    struct type type = type_make(dtype, rank, dim);
    void *data = arena_alloc(&c->model->arena, type_bytes(&type) + 1, _Alignof(max_align_t));
    elements_from_reals(dtype, values, (size_t)type_elements(&type), data);
    return weight_add(c->model, (struct imported_weight){.type = type, .data = data});
}

tensor_id int_weight(struct conversion *c, int rank, const int64_t *dim, const int64_t *values)
{
    struct type type = type_make(DTYPE_I64, rank, dim);
    void *data = arena_alloc(&c->model->arena, type_bytes(&type) + 1, _Alignof(max_align_t));
    elements_from_integers(DTYPE_I64, values, (size_t)type_elements(&type), data);
    return weight_add(c->model, (struct imported_weight){.type = type, .data = data});
}

static bool is_scalar(const struct imported_weight *w, enum dtype dtype, const void *element)
{
    return w->type.rank == 0 && w->type.dtype == dtype && w->data && !w->tensor && !w->is_of_binding &&
           memcmp(w->data, element, dtype_size(dtype)) == 0;
}

// A weight is made once per value and type, so that equal applications stay equal.
tensor_id scalar_constant(struct conversion *c, enum dtype dtype, double value)
{
    uint8_t element[8];
    elements_from_reals(dtype, &value, 1, element);
    const struct imported_weight *known = vec_find(&c->model->weights, w, is_scalar(w, dtype, element));
    return known ? graph_add_leaf(&c->model->graph, operators[OP_WEIGHT], known - c->model->weights.items, &known->type)
                 : real_weight(c, dtype, 0, NULL, &value);
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
    return x == NO_TENSOR || value == 1 ? x : binary(c, OP_EWMUL, x, constant_like(c, x, value));
}

tensor_id spread_along(struct conversion *c, tensor_id vector, int axis, tensor_id like)
{
    if (like == NO_TENSOR)
        return like;
    struct type type = *type_of(c, like);
    int64_t dim[MAX_RANK] = {type.dim[axis]};
    int rank = type.rank - axis;
    for (int i = 1; i < rank; i++)
        dim[i] = 1;
    return broadcast_to(c, reshape_to(c, vector, rank, dim), type.rank, type.dim);
}
