// What changes the channels of a convolution by numbers alone, a normalization, a product or a sum, is done by its
// weights: conv(x, k) + b, times s plus t, is conv(x, k * s) + (b * s + t), and k * s depends on weights only.
#include "onnx/convert/operators/fold_into_conv.h"

#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/operators/factors_fit.h"
#include "onnx/convert/operators/fold_into_transposed.h"
#include "onnx/convert/operators/normalized_bias.h"
#include "onnx/convert/origins.h"
#include "onnx/convert/read_node.h"
#include "onnx/format/visit.h"
#include "operators/traits.h"

#include <math.h>

// The convolution that alone feeds this node, and its bias (NO_TENSOR: none).
struct feeding_conv {
    node_id node;
    tensor_id image, kernel, bias;
};

// The Conv node that made a tensor; NULL where import rewrote what made it.
static const struct onnx_node *find_feeder(const struct conversion *c, tensor_id tensor, uint32_t *ret_index)
{
    const struct imported_origin *origin =
        imported_model_find_origin(c->model, c->model->graph.tensors.items[tensor].value);
    *ret_index = origin ? origin->node : NO_ORIGIN;
    return *ret_index == NO_ORIGIN ? NULL : node_at(c, *ret_index);
}

// The tensor itself, when a convolution makes it, or the summand that does.
static tensor_id find_convolution(const struct graph *g, tensor_id tensor)
{
    const struct node *n = graph_producer(g, tensor);
    for (uint32_t i = 0; n->op->id == OP_EWADD && i < 2; i++) {
        tensor_id summand = g->edges.items[n->first_input + i];
        if (operator_convolves(graph_producer(g, summand)->op))
            return summand;
    }
    return tensor;
}

// A Conv node, or a convolution without a bias that this file has made of one.
static bool find_feeding_conv(struct conversion *c, uint32_t input, struct feeding_conv *ret)
{
    const struct graph *g = &c->model->graph;
    uint32_t index;
    const struct onnx_node *feeder = find_feeder(c, input_of(c, input), &index);
    tensor_id conv = feeder ? find_convolution(g, input_of(c, input)) : input_of(c, input);
    if (!input_is_read_once(c, input) || !operator_convolves(graph_producer(g, conv)->op) ||
        (feeder && (!onnx_string_is(&feeder->op_type, "Conv") || !onnx_node_has_standard_domain(feeder))))
        return false;
    ret->node = g->tensors.items[conv].producer;
    ret->image = graph_inputs(g, ret->node)[0];
    ret->kernel = graph_inputs(g, ret->node)[1];
    ret->bias = feeder && feeder->inputs.count > 2 ? c->model->node_inputs[index][2] : NO_TENSOR;
    return is_constant(c, ret->kernel);
}

static bool fit_kernel(struct conversion *c, tensor_id kernel, uint32_t n_channels, const double *factors)
{
    const struct type *t = type_of(c, kernel);
    return n_channels > 0 &&
           factors_fit_weights(c, kernel, n_channels, factors, (uint32_t)(type_elements(t) / n_channels));
}

bool give_normalized_conv(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                          const double *offsets)
{
    struct feeding_conv conv;
    int64_t channels = n_channels;
    if (!find_feeding_conv(c, input, &conv))
        return give_normalized_transposed(c, input, n_channels, factors, offsets);
    if (type_of(c, conv.kernel)->dim[0] != channels)
        return false;
    const double *sum = normalized_bias(c, conv.bias, n_channels, factors, offsets);
    enum dtype dtype = type_of(c, conv.kernel)->dtype;
    if (!sum || !numbers_fit(dtype, n_channels, sum) || (factors && !fit_kernel(c, conv.kernel, n_channels, factors)))
        return false;
    struct application a = application_at(c, conv.node);
    if (factors)
        conv.kernel = binary(c, OP_EWMUL, conv.kernel,
                             spread_along(c, real_weight(c, dtype, 1, &channels, factors), 0, conv.kernel));
    tensor_id z = apply2(c, &a, conv.image, conv.kernel);
    keep_rewritten(c);
    if (z != NO_TENSOR && (offsets || conv.bias != NO_TENSOR))
        z = binary(c, OP_EWADD, z, spread_along(c, real_weight(c, dtype, 1, &channels, sum), 1, z));
    return give(c, 0, z);
}

// A constant that has a number for each channel, and one only: (C, 1, 1), (1, C, 1, 1).
static bool varies_by_channel(const struct type *t, const struct type *image)
{
    int channels = t->rank - (image->rank - 1);
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != (i == channels ? image->dim[1] : 1))
            return false;
    return channels == 0 || channels == 1;
}

static bool are_finite(uint32_t n, const double *numbers)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static bool find_numbers(struct conversion *c, uint32_t input, uint32_t numbers, uint32_t *ret_count,
                         const double **ret_items)
{
    tensor_id image = input_of(c, input), x = input_of(c, numbers);
    return is_weight(c, x) && type_of(c, image)->rank > 2 && varies_by_channel(type_of(c, x), type_of(c, image)) &&
           constant_reals(c, x, SIZE_MAX, ret_items, ret_count) && are_finite(*ret_count, *ret_items);
}

bool give_scaled_conv(struct conversion *c, uint32_t input, uint32_t factors)
{
    const double *items;
    uint32_t count;
    return find_numbers(c, input, factors, &count, &items) && give_normalized_conv(c, input, count, items, NULL);
}

bool give_shifted_conv(struct conversion *c, uint32_t input, uint32_t offsets)
{
    const double *items;
    uint32_t count;
    return find_numbers(c, input, offsets, &count, &items) && give_normalized_conv(c, input, count, NULL, items);
}
