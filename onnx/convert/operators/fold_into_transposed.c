// A ConvTranspose node times s plus t for each channel is the same node with other weights. It is converted again with
// them, and what export writes for it is that node: the convolution of zeros that it becomes here is no use to others.
#include "onnx/convert/operators/fold_into_transposed.h"

#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/operators/factors_fit.h"
#include "onnx/convert/operators/normalized_bias.h"
#include "onnx/convert/origins.h"
#include "onnx/convert/read_node.h"
#include "onnx/format/visit.h"

enum { IMAGE, KERNEL, BIAS, N_INPUTS };

// The ConvTranspose node that makes an input, which nothing else reads, as a conversion of its own.
static bool find_transposed(struct conversion *c, uint32_t input, struct conversion *ret)
{
    const struct imported_origin *origin =
        imported_model_find_origin(c->model, c->model->graph.tensors.items[input_of(c, input)].value);
    if (!input_is_read_once(c, input) || !origin || origin->node == NO_ORIGIN)
        return false;
    const struct onnx_node *node = node_at(c, origin->node);
    *ret = *c;
    ret->node = node;
    ret->index = origin->node;
    ret->inputs = c->model->node_inputs[origin->node];
    ret->n_inputs = N_INPUTS;
    ret->n_outputs = 1;
    return onnx_node_has_standard_domain(node) && onnx_string_is(&node->op_type, "ConvTranspose") &&
           is_constant(c, ret->inputs[KERNEL]);
}

// The kernel is (C, F / groups, ...): channel f of group g is its entry f of those C that belong to g.
static bool fit_kernel(struct conversion *c, tensor_id kernel, int64_t groups, const double *factors)
{
    const struct type *type = type_of(c, kernel);
    uint32_t of_group = (uint32_t)type->dim[1];
    int64_t run = type_elements(type) / (type->dim[0] * of_group);
    bool fits = true;
    for (uint32_t g = 0; fits && g < groups; g++)
        fits = factors_fit_weights(c, kernel, of_group, factors + g * of_group, (uint32_t)run);
    return fits;
}

static tensor_id scaled_kernel(struct conversion *c, tensor_id kernel, int64_t groups, const double *factors)
{
    struct type type = *type_of(c, kernel);
    int64_t split[MAX_RANK] = {groups, type.dim[0] / groups}, by_channel[MAX_RANK] = {groups, 1, type.dim[1]};
    for (int i = 1; i < type.rank; i++)
        split[i + 1] = type.dim[i];
    for (int i = 3; i <= type.rank; i++)
        by_channel[i] = 1;
    tensor_id numbers = real_weight(c, type.dtype, type.rank + 1, by_channel, factors);
    tensor_id parts = reshape_to(c, kernel, type.rank + 1, split);
    numbers = broadcast_to(c, numbers, type.rank + 1, split);
    return parts == NO_TENSOR ? parts : reshape_to(c, binary(c, OP_EWMUL, parts, numbers), type.rank, type.dim);
}

bool give_normalized_transposed(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                                const double *offsets)
{
    struct conversion t;
    tensor_id output = NO_TENSOR;
    tensor_id *inputs = arena_array(&c->model->arena, tensor_id, N_INPUTS + 1);
    if (!find_transposed(c, input, &t))
        return false;
    struct type kernel = *type_of(c, t.inputs[KERNEL]);
    int64_t groups = int_attribute(&t, "group", 1), channels = n_channels;
    const double *sum = normalized_bias(c, t.inputs[BIAS], n_channels, factors, offsets);
    if (!sum || kernel.rank + 1 > MAX_RANK || !numbers_fit(kernel.dtype, n_channels, sum) ||
        kernel.dim[1] * groups != channels || (factors && !fit_kernel(c, t.inputs[KERNEL], groups, factors)))
        return false;
    inputs[IMAGE] = t.inputs[IMAGE];
    inputs[KERNEL] = factors ? scaled_kernel(c, t.inputs[KERNEL], groups, factors) : t.inputs[KERNEL];
    inputs[BIAS] = real_weight(c, kernel.dtype, 1, &channels, sum);
    inputs[N_INPUTS] = NO_TENSOR;
    t.inputs = inputs;
    t.outputs = &output;
    if (!convert_conv_transpose(&t))
        return false;
    stand_for(c, t.index, inputs);
    return give(c, 0, output);
}
