// The branches of RepVGG and its like, conv(x, k) + conv(x, l) + (x * s + t) or + x, are one convolution when the model
// is run: of the largest kernel, with the others added to it where their windows lie. That is fewer operations and less
// to read at any size, so import does it, and no search has to find it block by block.
#include "onnx/convert/operators/merge_convs.h"

#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/operators/fold_into_weights.h"
#include "onnx/convert/read_node.h"
#include "operators/traits.h"

#define LARGEST_DIAGONAL (1 << 22)   // elements of a kernel that stands for no convolution

static bool find_conv(struct conversion *c, tensor_id tensor, struct linear *ret)
{
    return find_linear(c, tensor, ret) && operator_convolves(c->model->graph.nodes.items[ret->node].op);
}

// --- the image -------------------------------------------------------------------------------------------------------

// x * s + t as a convolution of windows of one entry, without a node, for the groups that the other kernel has. Without
// factors it is x.
static bool make_diagonal(struct conversion *c, const struct linear *other, const struct channel_numbers *s,
                          struct linear *ret)
{
    struct type kernel = *type_of(c, other->weights);
    int64_t n = kernel.dim[0] * kernel.dim[1], count = kernel.dim[0];
    int64_t dim[MAX_RANK] = {kernel.dim[0], kernel.dim[1], 1, 1, 1, 1, 1, 1};
    if (n > LARGEST_DIAGONAL || (s->factors && !numbers_fit(kernel.dtype, s->count, s->factors)) ||
        (s->offsets && !numbers_fit(kernel.dtype, s->count, s->offsets)))
        return false;
    double *items = arena_array(&c->importer->scratch, double, n + 1);
    for (int64_t i = 0; i < n; i++) {
        bool is_on_it = i % kernel.dim[1] == i / kernel.dim[1] % kernel.dim[1];
        items[i] = !is_on_it ? 0 : s->factors ? s->factors[i / kernel.dim[1]] : 1;
    }
    *ret = (struct linear){.node = NO_NODE,
                           .input = other->input,
                           .weights = real_weight(c, kernel.dtype, kernel.rank, dim, items),
                           .bias = s->offsets ? real_weight(c, kernel.dtype, 1, &count, s->offsets) : NO_TENSOR};
    return true;
}

// The image has as many channels as the convolution.
static bool find_image(struct conversion *c, tensor_id tensor, const struct linear *other, struct linear *ret)
{
    int64_t n = type_of(c, other->weights)->dim[0];
    return tensor == other->input && n == type_of(c, tensor)->dim[1] &&
           make_diagonal(c, other, &(struct channel_numbers){.count = (uint32_t)n}, ret);
}

static bool find_normalized_image(struct conversion *c, tensor_id tensor, const struct linear *other,
                                  struct linear *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    struct channel_numbers s;
    tensor_id inputs[5];
    if (n->op->id != OP_BATCHNORM)
        return false;
    for (int i = 0; i < 5; i++)
        inputs[i] = g->edges.items[n->first_input + i];
    double epsilon = real_from_bits(n->attributes[operator_find_attribute(n->op, "epsilon")].ints[0]);
    return inputs[0] == other->input && read_normalization(c, &inputs[1], epsilon, &s) &&
           s.count == type_of(c, other->weights)->dim[0] && make_diagonal(c, other, &s, ret);
}

// --- two that go together --------------------------------------------------------------------------------------------

static const struct attribute_value *attribute_at(const struct conversion *c, node_id n, enum attribute_role role)
{
    return node_attribute(&c->model->graph.nodes.items[n], role);
}

static bool have_equal_attribute(const struct conversion *c, node_id a, node_id b, enum attribute_role role)
{
    return attribute_value_equal(attribute_at(c, a, role), attribute_at(c, b, role));
}

static bool has_strides_of_one(const struct conversion *c, node_id n)
{
    const struct attribute_value *strides = attribute_at(c, n, ROLE_STRIDE);
    return ALL(uint32_t, i, strides->count, strides->ints[i] == 1);
}

// The place of the window of `small` in that of `large`, as pads of its kernel. False: it reaches out of it.
static bool find_room(const struct conversion *c, const struct linear *large, const struct linear *small,
                      int64_t *ret_pads)
{
    const struct type *a = type_of(c, large->weights), *b = type_of(c, small->weights);
    const int64_t *dilation = attribute_at(c, large->node, ROLE_DILATION)->ints;
    const int64_t *pad = attribute_at(c, large->node, ROLE_WINDOW_PADS)->ints;
    const int64_t *inner = small->node == NO_NODE ? NULL : attribute_at(c, small->node, ROLE_WINDOW_PADS)->ints;
    for (int i = 0; i < a->rank - 2; i++) {
        int64_t offset = pad[i] - (inner ? inner[i] : 0), places = offset / dilation[i];
        int64_t behind = a->dim[2 + i] - b->dim[2 + i] - places;
        if (offset < 0 || offset % dilation[i] || behind < 0 ||
            (b->dim[2 + i] > 1 && dilation[i] != attribute_at(c, small->node, ROLE_DILATION)->ints[i]))
            return false;
        ret_pads[2 + i] = places;
        ret_pads[a->rank + 2 + i] = behind;
    }
    return true;
}

static bool go_together(const struct conversion *c, const struct linear *large, const struct linear *small)
{
    const struct type *a = type_of(c, large->weights), *b = type_of(c, small->weights);
    if (large->input != small->input || a->dtype != b->dtype || !dtype_is_float(a->dtype) || dtype_size(a->dtype) < 4 ||
        a->dim[0] != b->dim[0] || a->dim[1] != b->dim[1])
        return false;
    return small->node == NO_NODE ? has_strides_of_one(c, large->node)
                                  : have_equal_attribute(c, large->node, small->node, ROLE_STRIDE) &&
                                        have_equal_attribute(c, large->node, small->node, ROLE_GROUPS);
}

// NO_TENSOR: they do not go together.
static tensor_id merged(struct conversion *c, const struct linear *large, const struct linear *small)
{
    int64_t pads[2 * MAX_RANK] = {0};
    if (!go_together(c, large, small) || !find_room(c, large, small, pads) ||
        !sum_fits(c, large->weights, small->weights))
        return NO_TENSOR;
    struct type kernel = *type_of(c, large->weights);
    struct channel_numbers n = {.count = (uint32_t)kernel.dim[0]};
    if (small->bias != NO_TENSOR && !(n.offsets = bias_with_numbers(c, small->bias, kernel.dtype, &n)))
        return NO_TENSOR;
    const double *sum = bias_with_numbers(c, large->bias, kernel.dtype, &n);
    if (!sum || !numbers_fit(kernel.dtype, n.count, sum))
        return NO_TENSOR;
    struct application conv = application_at(c, large->node);
    tensor_id padded = apply(c, OP_PAD, INPUTS(small->weights), WITH(list("pads", 2 * kernel.rank, pads)));
    tensor_id z = apply_application(c, &conv, INPUTS(large->input, binary(c, OP_EWADD, large->weights, padded)));
    if (z == NO_TENSOR || (large->bias == NO_TENSOR && small->bias == NO_TENSOR))
        return z;
    return binary(c, OP_EWADD, z, spread_along(c, real_weight(c, kernel.dtype, 1, &kernel.dim[0], sum), 1, z));
}

// The other one beside a convolution; what is read elsewhere, too, is computed in any case, unless it is the image.
static tensor_id merged_with(struct conversion *c, const struct summand *conv, const struct summand *other)
{
    struct linear large, small;
    if (!conv->is_read_once || !find_conv(c, conv->tensor, &large))
        return NO_TENSOR;
    bool is_found = find_image(c, other->tensor, &large, &small) ||
                    (other->is_read_once &&
                     (find_conv(c, other->tensor, &small) || find_normalized_image(c, other->tensor, &large, &small)));
    return is_found ? merged(c, &large, &small) : NO_TENSOR;
}

static bool merge_two(struct conversion *c, struct summand *a, const struct summand *b)
{
    const struct type *types[2] = {type_of(c, a->tensor), type_of(c, b->tensor)};
    if (types[0]->rank < 3 || !type_equal_shape(types[0], types[1]))
        return false;
    tensor_id z = merged_with(c, a, b);
    z = z == NO_TENSOR ? merged_with(c, b, a) : z;
    if (z != NO_TENSOR)
        *a = (struct summand){z, true};
    return z != NO_TENSOR;
}

uint32_t merge_convs(struct conversion *c, uint32_t n, struct summand *summands)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (i == j || !merge_two(c, &summands[i], &summands[j]))
                continue;
            for (n--; j < n; j++)
                summands[j] = summands[j + 1];
            c->is_rewritten = true;
            return merge_convs(c, n, summands);
        }
    return n;
}
