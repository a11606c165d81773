// A product with a constant matrix, or the sum of one with a bias, times a number for each column: the weights do it.
// (x w + b) * s is x (w * s) + b * s, and both in brackets depend on weights only. So does a normalization of channels
// that come from columns, in whatever order transpositions and reshapes between put them.
#include "onnx/convert/operators/fold_into_product.h"

#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/operators/factors_fit.h"
#include "onnx/convert/operators/fold_into_conv.h"
#include "onnx/convert/operators/normalized_bias.h"
#include "onnx/convert/read_node.h"

#include <math.h>

#define MOST_MOVES 8   // transpositions and reshapes between a product and its normalization

struct feeding_product {
    node_id node;
    tensor_id matrix, bias;   // NO_TENSOR: none
};

static bool is_product(struct conversion *c, tensor_id tensor, struct feeding_product *ret)
{
    const struct graph *g = &c->model->graph;
    ret->node = g->tensors.items[tensor].producer;
    ret->bias = NO_TENSOR;
    if (g->nodes.items[ret->node].op->id != OP_MATMUL)
        return false;
    ret->matrix = graph_inputs(g, ret->node)[1];
    return type_of(c, ret->matrix)->rank == 2 && is_constant(c, ret->matrix);
}

// A vector that was broadcast; NO_TENSOR: it is something else.
static tensor_id vector_behind(const struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    tensor_id vector = n->op->id == OP_BROADCAST ? g->edges.items[n->first_input] : NO_TENSOR;
    return vector != NO_TENSOR && is_weight(c, vector) && type_of(c, vector)->rank == 1 ? vector : NO_TENSOR;
}

// A product with a constant matrix, or its sum with a bias.
static bool find_product(struct conversion *c, tensor_id tensor, struct feeding_product *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    if (n->op->id != OP_EWADD)
        return is_product(c, tensor, ret);
    for (uint32_t i = 0; i < 2; i++) {
        tensor_id product = g->edges.items[n->first_input + i];
        tensor_id bias = vector_behind(c, g->edges.items[n->first_input + 1 - i]);
        if (bias != NO_TENSOR && is_product(c, product, ret) && tensor_is_read_once(c, product)) {
            ret->bias = bias;
            return true;
        }
    }
    return false;
}

static bool find_feeding_product(struct conversion *c, uint32_t input, struct feeding_product *ret)
{
    return input_is_read_once(c, input) && find_product(c, input_of(c, input), ret);
}

// The same product of another matrix.
static tensor_id product_with(struct conversion *c, const struct feeding_product *p, tensor_id matrix)
{
    struct application a = application_at(c, p->node);
    return apply2(c, &a, graph_inputs(&c->model->graph, p->node)[0], matrix);
}

// A constant that has a number for each entry of the last axis, and one only.
static bool varies_by_column(const struct type *t, const struct type *product)
{
    bool is_so = t->rank > 0 && t->rank <= product->rank;
    for (int i = 0; is_so && i < t->rank; i++)
        is_so = t->dim[i] == (i == t->rank - 1 ? product->dim[product->rank - 1] : 1);
    return is_so;
}

static bool are_finite(uint32_t n, const double *numbers)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static bool fit_bias(struct conversion *c, tensor_id bias, uint32_t n, const double *factors)
{
    const double *items;
    uint32_t count;
    double *products = arena_array(&c->importer->scratch, double, n + 1);
    if (bias == NO_TENSOR)
        return true;
    if (!constant_reals(c, bias, SIZE_MAX, &items, &count) || count != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        products[i] = items[i] * factors[i];
    return numbers_fit(type_of(c, bias)->dtype, n, products);
}

static tensor_id scaled(struct conversion *c, tensor_id weights, tensor_id factors)
{
    const struct type type = *type_of(c, weights);
    return binary(c, OP_EWMUL, weights, broadcast_to(c, factors, type.rank, type.dim));
}

bool give_scaled_product(struct conversion *c, uint32_t input, uint32_t factors)
{
    struct feeding_product p;
    const double *items;
    uint32_t count;
    tensor_id numbers = input_of(c, factors);
    if (!is_weight(c, numbers) || !varies_by_column(type_of(c, numbers), type_of(c, input_of(c, input))) ||
        !find_feeding_product(c, input, &p) || !constant_reals(c, numbers, SIZE_MAX, &items, &count) ||
        !are_finite(count, items) || !factors_fit_weights(c, p.matrix, count, items, 1) ||
        !fit_bias(c, p.bias, count, items))
        return false;
    int64_t columns = count;
    numbers = real_weight(c, type_of(c, numbers)->dtype, 1, &columns, items);
    tensor_id z = product_with(c, &p, scaled(c, p.matrix, numbers));
    keep_rewritten(c);
    if (z != NO_TENSOR && p.bias != NO_TENSOR) {
        struct type type = *type_of(c, z);
        z = binary(c, OP_EWADD, z, broadcast_to(c, scaled(c, p.bias, numbers), type.rank, type.dim));
    }
    return give(c, 0, z);
}

// ---- behind moves ----

// Entry i of the axis has channel i / run % n.
struct channels {
    int axis;
    int64_t run, n;
};
struct moved_product {
    struct feeding_product product;
    node_id moves[MOST_MOVES];   // the last first
    int n_moves;
    struct channels columns;
};

static int64_t entries_behind(const struct type *t, int axis)
{
    int64_t n = 1;
    for (int i = axis + 1; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

// Before a reshape channels lie along one axis, too, unless they are spread over several.
static bool find_axis_before(const struct type *before, const struct type *behind, struct channels *channels)
{
    int64_t run = channels->run * entries_behind(behind, channels->axis);
    for (int i = before->rank - 1; run > 0 && i >= 0; i--) {
        int64_t inner = entries_behind(before, i);
        if (inner == 0 || run % inner || before->dim[i] == 0 || before->dim[i] * inner % (run * channels->n))
            continue;
        channels->axis = i;
        channels->run = run / inner;
        return true;
    }
    return false;
}

static bool go_before(struct conversion *c, node_id move, struct channels *channels)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = &g->nodes.items[move];
    if (n->op->id == OP_RESHAPE)
        return find_axis_before(type_of(c, graph_inputs(g, move)[0]), type_of(c, n->first_output), channels);
    channels->axis = (int)n->attributes[operator_find_role(n->op, ROLE_PERMUTATION)].ints[channels->axis];
    return true;
}

static bool is_move(const struct graph *g, node_id n)
{
    return g->nodes.items[n].op->id == OP_TRANSPOSE || g->nodes.items[n].op->id == OP_RESHAPE;
}

static bool find_moved_product(struct conversion *c, uint32_t input, uint32_t n_channels, struct moved_product *ret)
{
    const struct graph *g = &c->model->graph;
    tensor_id tensor = input_of(c, input);
    *ret = (struct moved_product){.columns = {1, 1, n_channels}};
    if (!input_is_read_once(c, input))
        return false;
    for (node_id n; is_move(g, n = g->tensors.items[tensor].producer); ret->moves[ret->n_moves++] = n) {
        tensor = graph_inputs(g, n)[0];
        if (ret->n_moves == MOST_MOVES || !go_before(c, n, &ret->columns) || !tensor_is_read_once(c, tensor))
            return false;
    }
    return find_product(c, tensor, &ret->product) && ret->columns.axis == type_of(c, tensor)->rank - 1;
}

static const double *of_columns(struct conversion *c, const struct channels *columns, uint32_t n, const double *numbers)
{
    double *ret = arena_array(&c->importer->scratch, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        ret[i] = numbers[i / columns->run % columns->n];
    return ret;
}

static tensor_id moved_again(struct conversion *c, const struct moved_product *m, tensor_id z)
{
    for (int i = m->n_moves - 1; z != NO_TENSOR && i >= 0; i--) {
        struct application a = application_at(c, m->moves[i]);
        z = apply1(c, &a, z);
    }
    return z;
}

bool give_normalized_product(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                             const double *offsets)
{
    struct moved_product m;
    if (!find_moved_product(c, input, n_channels, &m))
        return false;
    struct feeding_product *p = &m.product;
    struct type matrix = *type_of(c, p->matrix);
    uint32_t n = (uint32_t)matrix.dim[1];
    factors = of_columns(c, &m.columns, n, factors);
    const double *sum = normalized_bias(c, p->bias, n, factors, of_columns(c, &m.columns, n, offsets));
    if (!sum || !numbers_fit(matrix.dtype, n, sum) || !factors_fit_weights(c, p->matrix, n, factors, 1))
        return false;
    tensor_id z = product_with(c, p, scaled(c, p->matrix, real_weight(c, matrix.dtype, 1, &matrix.dim[1], factors)));
    keep_rewritten(c);
    if (z != NO_TENSOR)
        z = binary(c, OP_EWADD, z,
                   spread_along(c, real_weight(c, matrix.dtype, 1, &matrix.dim[1], sum), type_of(c, z)->rank - 1, z));
    return give(c, 0, moved_again(c, &m, z));
}
