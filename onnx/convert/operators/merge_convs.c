// The branches of RepVGG and its like, conv(x, k) + conv(x, l) + (x * s + t) or + x, are one convolution when the model
// is run: of the largest kernel, with the others added to it where their windows lie. That is fewer operations and less
// to read at any size, so import does it, and no search has to find it block by block.
#include "onnx/convert/operators/merge_convs.h"

#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/operators/convert_normalization.h"
#include "onnx/convert/operators/factors_fit.h"
#include "onnx/convert/read_node.h"
#include "onnx/convert/weights.h"
#include "operators/traits.h"

#define LARGEST_DIAGONAL (1 << 22)   // elements of a kernel that stands for no convolution

struct branch {
    tensor_id image, kernel, bias;   // a constant for each channel, (C, 1, ...); NO_TENSOR: none
    node_id node;
};

// The tensor that is broadcast, when it is a constant that varies by channel.
static tensor_id channels_behind(struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    tensor_id numbers = n->op->id == OP_BROADCAST ? g->edges.items[n->first_input] : NO_TENSOR;
    if (numbers == NO_TENSOR || !is_constant(c, numbers))
        return NO_TENSOR;
    const struct type *t = type_of(c, numbers), *all = type_of(c, tensor);
    return t->rank == all->rank - 1 && type_elements(t) == all->dim[1] && t->dim[0] == all->dim[1] ? numbers
                                                                                                   : NO_TENSOR;
}

static bool find_conv_without_bias(struct conversion *c, tensor_id tensor, struct branch *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    if (!operator_convolves(n->op))
        return false;
    *ret = (struct branch){g->edges.items[n->first_input], g->edges.items[n->first_input + 1], NO_TENSOR,
                           g->tensors.items[tensor].producer};
    return is_constant(c, ret->kernel);
}

static bool find_conv(struct conversion *c, tensor_id tensor, struct branch *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    const tensor_id *summands = g->edges.items + n->first_input;
    if (n->op->id != OP_EWADD)
        return find_conv_without_bias(c, tensor, ret);
    for (int i = 0; i < 2; i++) {
        tensor_id conv = summands[i], bias = channels_behind(c, summands[1 - i]);
        if (bias != NO_TENSOR && tensor_is_read_once(c, conv) && find_conv_without_bias(c, conv, ret)) {
            ret->bias = bias;
            return true;
        }
    }
    return false;
}

// x * s as a convolution of windows of one entry, for the groups that the other kernel has.
static bool make_diagonal(struct conversion *c, const struct branch *other, const double *factors, struct branch *ret)
{
    struct type kernel = *type_of(c, other->kernel);
    int64_t n = kernel.dim[0] * kernel.dim[1], dim[MAX_RANK] = {kernel.dim[0], kernel.dim[1], 1, 1, 1, 1, 1, 1};
    if (n > LARGEST_DIAGONAL || !numbers_fit(kernel.dtype, kernel.dim[0], factors))
        return false;
    double *items = arena_array(&c->importer->scratch, double, n + 1);
    for (int64_t i = 0; i < n; i++)
        items[i] = i % kernel.dim[1] == i / kernel.dim[1] % kernel.dim[1] ? factors[i / kernel.dim[1]] : 0;
    *ret = (struct branch){other->image, real_weight(c, kernel.dtype, kernel.rank, dim, items), NO_TENSOR, NO_NODE};
    return true;
}

// The image itself, of as many channels as the convolution has.
static bool find_image(struct conversion *c, tensor_id tensor, const struct branch *other, struct branch *ret)
{
    int64_t n = type_of(c, other->kernel)->dim[0];
    if (tensor != other->image || n != type_of(c, tensor)->dim[1] || n > LARGEST_DIAGONAL)
        return false;
    double *ones = arena_array(&c->importer->scratch, double, n + 1);
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    return make_diagonal(c, other, ones, ret);
}

// x * s + t, with t as its bias.
static bool find_normalized_image(struct conversion *c, tensor_id tensor, const struct branch *other,
                                  struct branch *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    struct type kernel = *type_of(c, other->kernel);
    struct channel_numbers s;
    tensor_id inputs[5];
    if (n->op->id != OP_BATCHNORM)
        return false;
    for (int i = 0; i < 5; i++)
        inputs[i] = g->edges.items[n->first_input + i];
    double epsilon = real_from_bits(n->attributes[operator_find_attribute(n->op, "epsilon")].ints[0]);
    if (inputs[0] != other->image || !read_normalization(c, &inputs[1], epsilon, &s) || s.count != kernel.dim[0])
        return false;
    int64_t by_channel[MAX_RANK] = {s.count, 1, 1, 1, 1, 1, 1, 1};
    if (!numbers_fit(kernel.dtype, s.count, s.offsets) || !make_diagonal(c, other, s.factors, ret))
        return false;
    ret->bias = real_weight(c, kernel.dtype, kernel.rank - 1, by_channel, s.offsets);
    return true;
}

static const struct attribute_value *attribute_at(const struct conversion *c, node_id n, enum attribute_role role)
{
    const struct node *node = &c->model->graph.nodes.items[n];
    return &node->attributes[operator_find_role(node->op, role)];
}

static bool have_equal_attribute(const struct conversion *c, node_id a, node_id b, enum attribute_role role)
{
    return attribute_value_equal(attribute_at(c, a, role), attribute_at(c, b, role));
}

static bool has_strides_of_one(const struct conversion *c, node_id n)
{
    const struct attribute_value *strides = attribute_at(c, n, ROLE_STRIDE);
    for (uint32_t i = 0; i < strides->count; i++)
        if (strides->ints[i] != 1)
            return false;
    return true;
}

// The place of the window of `small` in that of `large`, as pads of its kernel. False: it reaches out of it.
static bool find_room(const struct conversion *c, const struct branch *large, const struct branch *small,
                      int64_t *ret_pads)
{
    const struct type *a = type_of(c, large->kernel), *b = type_of(c, small->kernel);
    const int64_t *dilation = attribute_at(c, large->node, ROLE_DILATION)->ints;
    const int64_t *pad = attribute_at(c, large->node, ROLE_WINDOW_PADS)->ints;
    const int64_t *inner = small->node == NO_NODE ? NULL : attribute_at(c, small->node, ROLE_WINDOW_PADS)->ints;
    for (int i = 0; i < a->rank - 2; i++) {
        int64_t offset = pad[i] - (inner ? inner[i] : 0), places = offset / dilation[i];
        int64_t behind = a->dim[2 + i] - b->dim[2 + i] - places;
        if (offset < 0 || offset % dilation[i] || behind < 0)
            return false;
        if (b->dim[2 + i] > 1 && dilation[i] != attribute_at(c, small->node, ROLE_DILATION)->ints[i])
            return false;
        ret_pads[2 + i] = places;
        ret_pads[a->rank + 2 + i] = behind;
    }
    return true;
}

static bool go_together(const struct conversion *c, const struct branch *large, const struct branch *small)
{
    const struct type *a = type_of(c, large->kernel), *b = type_of(c, small->kernel);
    if (large->image != small->image || a->dtype != b->dtype || !dtype_is_float(a->dtype) || dtype_size(a->dtype) < 4 ||
        a->dim[0] != b->dim[0] || a->dim[1] != b->dim[1])
        return false;
    return small->node == NO_NODE ? has_strides_of_one(c, large->node)
                                  : have_equal_attribute(c, large->node, small->node, ROLE_STRIDE) &&
                                        have_equal_attribute(c, large->node, small->node, ROLE_GROUPS);
}

static tensor_id sum_of_constants(struct conversion *c, tensor_id a, tensor_id b)
{
    return a == NO_TENSOR ? b : b == NO_TENSOR ? a : binary(c, OP_EWADD, a, b);
}

static bool give_merged(struct conversion *c, const struct branch *large, const struct branch *small)
{
    int64_t pads[2 * MAX_RANK] = {0};
    if (!go_together(c, large, small) || !find_room(c, large, small, pads) ||
        !sum_fits(c, large->kernel, small->kernel) ||
        (large->bias != NO_TENSOR && small->bias != NO_TENSOR && !sum_fits(c, large->bias, small->bias)))
        return false;
    struct application conv = application_at(c, large->node), pad = application_of(c, OP_PAD);
    struct type kernel = *type_of(c, large->kernel);
    set_ints(c, &pad, "pads", 2 * (uint32_t)kernel.rank, pads);
    tensor_id z = apply2(c, &conv, large->image, binary(c, OP_EWADD, large->kernel, apply1(c, &pad, small->kernel)));
    tensor_id bias = sum_of_constants(c, large->bias, small->bias);
    keep_rewritten(c);
    if (z != NO_TENSOR && bias != NO_TENSOR) {
        struct type type = *type_of(c, z);
        z = binary(c, OP_EWADD, z, broadcast_to(c, bias, type.rank, type.dim));
    }
    return give(c, 0, z);
}

// Beside a convolution; what is read elsewhere, too, is computed in any case, unless it is the image.
static bool find_other_branch(struct conversion *c, uint32_t input, const struct branch *conv, struct branch *ret)
{
    tensor_id tensor = input_of(c, input);
    return find_image(c, tensor, conv, ret) ||
           (input_is_read_once(c, input) && (find_conv(c, tensor, ret) || find_normalized_image(c, tensor, conv, ret)));
}

bool give_merged_convs(struct conversion *c)
{
    const struct type *types[2] = {type_of(c, input_of(c, 0)), type_of(c, input_of(c, 1))};
    if (types[0]->rank < 3 || !type_equal_shape(types[0], types[1]))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        struct branch large, small;
        if (input_is_read_once(c, i) && find_conv(c, input_of(c, i), &large) &&
            find_other_branch(c, 1 - i, &large, &small) && give_merged(c, &large, &small))
            return true;
    }
    return false;
}
