// A product with a constant matrix, or the sum of one with a bias, times a number for each column: the weights do it.
// (x w + b) * s is x (w * s) + b * s, and both in brackets depend on weights only.
#include "onnx/convert/build.h"
#include "onnx/convert/import_names.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/read_node.h"
#include "onnx/format/visit.h"

#include <math.h>

struct feeding_product {
    const struct node *node;
    tensor_id matrix, bias;   // NO_TENSOR: none
};

static bool is_read_once(const struct conversion *c, const struct onnx_string *name)
{
    const struct named_value *value = name_find(c->importer, name);
    return value && value->uses == 1;
}

// Does one node alone read what this MatMul node, as it was imported, makes?
static bool is_only_summed(const struct conversion *c, tensor_id product)
{
    const struct imported_origin *origin =
        imported_model_find_origin(c->model, c->model->graph.tensors.items[product].value);
    if (!origin || origin->node == NO_ORIGIN)
        return false;
    const struct onnx_node *node = node_at(c, origin->node);
    return onnx_string_is(&node->op_type, "MatMul") && is_read_once(c, &node->outputs.items[0]);
}

static bool is_product(struct conversion *c, tensor_id tensor, struct feeding_product *ret)
{
    const struct graph *g = &c->model->graph;
    ret->node = graph_producer(g, tensor);
    ret->bias = NO_TENSOR;
    if (ret->node->op->id != OP_MATMUL)
        return false;
    ret->matrix = g->edges.items[ret->node->first_input + 1];
    return type_of(c, ret->matrix)->rank == 2 && is_constant(c, ret->matrix) && is_only_summed(c, tensor);
}

// A vector that was broadcast; NO_TENSOR: it is something else.
static tensor_id vector_behind(const struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    tensor_id vector = n->op->id == OP_BROADCAST ? g->edges.items[n->first_input] : NO_TENSOR;
    return vector != NO_TENSOR && is_weight(c, vector) && type_of(c, vector)->rank == 1 ? vector : NO_TENSOR;
}

static bool find_feeding_product(struct conversion *c, uint32_t input, struct feeding_product *ret)
{
    const struct graph *g = &c->model->graph;
    tensor_id tensor = input_of(c, input);
    const struct node *n = graph_producer(g, tensor);
    if (!is_read_once(c, &c->node->inputs.items[input]))
        return false;
    if (n->op->id != OP_EWADD)
        return is_product(c, tensor, ret);
    for (uint32_t i = 0; i < 2; i++) {
        tensor_id bias = vector_behind(c, g->edges.items[n->first_input + 1 - i]);
        if (bias != NO_TENSOR && is_product(c, g->edges.items[n->first_input + i], ret)) {
            ret->bias = bias;
            return true;
        }
    }
    return false;
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
    struct application a = {.op = p.node->op};
    for (int i = 0; i < operator_n_attributes(a.op); i++)
        a.values[i] = p.node->attributes[i];
    tensor_id x = c->model->graph.edges.items[p.node->first_input];
    numbers = real_weight(c, type_of(c, numbers)->dtype, 1, &columns, items);
    tensor_id z = apply2(c, &a, x, scaled(c, p.matrix, numbers));
    keep_rewritten(c);
    if (z != NO_TENSOR && p.bias != NO_TENSOR) {
        struct type type = *type_of(c, z);
        z = binary(c, OP_EWADD, z, broadcast_to(c, scaled(c, p.bias, numbers), type.rank, type.dim));
    }
    return give(c, 0, z);
}
