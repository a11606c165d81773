// Normalizations; that of a batch becomes part of the convolution or product before it, where there is one.
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/operators/fold_into_weights.h"

// x / |x|, where 0 / 0 is 0: the norm is held above the smallest normal number.
bool convert_lp_normalization(struct conversion *c)
{
    struct axes axes = {.count = 1};
    int axis;
    if (!dtype_is_float(type_of(c, input_of(c, 0))->dtype))
        return cannot(c, "its input is not of real numbers");
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    tensor_id x = cast_to(c, input_of(c, 0), dtype_of_stages(dtype));
    if (!normalize_axis(c, int_attribute(c, "axis", -1), type_of(c, x)->rank, &axis))
        return false;
    if (int_attribute(c, "p", 2) != 1 && int_attribute(c, "p", 2) != 2)
        return cannot(c, "its norm is neither a sum of magnitudes nor one of squares");
    axes.axis[0] = axis;
    tensor_id norm = int_attribute(c, "p", 2) == 1
                         ? reduce_by(c, OP_REDUCESUM, unary(c, OP_ABS, x), &axes, true)
                         : unary(c, OP_SQRT, reduce_by(c, OP_REDUCESUM, binary(c, OP_EWMUL, x, x), &axes, true));
    norm = binary(c, OP_MAX, norm, constant_like(c, norm, 0x1p-126));
    return give(c, 0, cast_to(c, binary(c, OP_DIV, x, norm), dtype));
}

static tensor_id variance_of(struct conversion *c, tensor_id centred, const struct axes *axes)
{
    return reduce_by(c, OP_REDUCEMEAN, binary(c, OP_EWMUL, centred, centred), axes, true);
}

// (x - mean) / (deviation + 1e-9) over the axes, by default all but the channels.
bool convert_mean_variance_normalization(struct conversion *c)
{
    struct axes axes;
    if (!dtype_is_float(type_of(c, input_of(c, 0))->dtype))
        return cannot(c, "its input is not of real numbers");
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    tensor_id x = cast_to(c, input_of(c, 0), dtype_of_stages(dtype));
    int rank = type_of(c, x)->rank;
    if (!has_attribute(c, "axes") && rank != 4)
        return cannot(c, "it has no axes");
    if (!read_axes(c, rank, &axes))
        return false;
    if (!has_attribute(c, "axes"))
        axes = (struct axes){.count = 3, .axis = {0, 2, 3}};
    tensor_id centred = binary(c, OP_SUB, x, reduce_by(c, OP_REDUCEMEAN, x, &axes, true));
    tensor_id deviation = add_scalar(c, unary(c, OP_SQRT, variance_of(c, centred, &axes)), 1e-9);
    return give(c, 0, cast_to(c, binary(c, OP_DIV, centred, deviation), dtype));
}

static bool fold_into_weights(struct conversion *c)
{
    struct channel_numbers n;
    if (!read_normalization(c, &c->inputs[1], float_attribute(c, "epsilon", 1e-5), &n) || !give_normalized(c, 0, &n))
        return false;
    c->model->counts.normalizations++;
    return true;
}

// Statistics in f32 of halves may be larger than these.
static enum dtype widest_dtype(struct conversion *c, uint32_t n_inputs)
{
    enum dtype widest = type_of(c, input_of(c, 0))->dtype;
    for (uint32_t i = 1; i < n_inputs; i++)
        if (dtype_size(type_of(c, input_of(c, i))->dtype) > dtype_size(widest))
            widest = type_of(c, input_of(c, i))->dtype;
    return widest;
}

bool convert_batch_normalization(struct conversion *c)
{
    for (uint32_t i = 1; i < c->n_outputs; i++)
        if (wants_output(c, i) || (c->opset < 14 && c->node->outputs.items[i].size))
            return cannot(c, "it is in training mode");
    if (int_attribute(c, "training_mode", 0) || !int_attribute(c, "spatial", 1))
        return cannot(c, "it is in training mode, or not per channel");
    if (fold_into_weights(c))
        return true;
    c->reason[0] = 0;
    tensor_id inputs[5];
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype, widest = widest_dtype(c, 5);
    for (uint32_t i = 0; i < 5; i++)
        inputs[i] = cast_to(c, input_of(c, i), widest);
    double epsilon = float_attribute(c, "epsilon", 1e-5);
    return give(c, 0, cast_to(c, apply(c, OP_BATCHNORM, 5, inputs, WITH(real("epsilon", epsilon))), dtype));
}

// The mean and the reciprocal of the deviation over the axes from `axis` on, which LayerNormalization can give too, in
// f32 whatever is normalized.
static bool give_statistics(struct conversion *c, tensor_id x, int axis, double epsilon)
{
    struct type type = *type_of(c, x);
    struct axes axes = {0};
    for (int i = axis; i < type.rank; i++)
        axes.axis[axes.count++] = i;
    if (!wants_output(c, 1) && !wants_output(c, 2))
        return true;
    if (int_attribute(c, "stash_type", 1) != 1)
        return cannot(c, "its mean is of another type than f32");
    x = type.dtype == DTYPE_F64 ? x : cast_to(c, x, DTYPE_F32);
    tensor_id mean = reduce_by(c, OP_REDUCEMEAN, x, &axes, true);
    if (wants_output(c, 1) && !give(c, 1, cast_to(c, mean, DTYPE_F32)))
        return false;
    tensor_id variance = variance_of(c, binary(c, OP_SUB, x, mean), &axes);
    tensor_id deviation = unary(c, OP_SQRT, add_scalar(c, variance, epsilon));
    return !wants_output(c, 2) || give(c, 2, cast_to(c, unary(c, OP_RECIPROCAL, deviation), DTYPE_F32));
}

bool convert_layer_normalization(struct conversion *c)
{
    int axis;
    tensor_id inputs[3];
    double epsilon = float_attribute(c, "epsilon", 1e-5);
    uint32_t n = input_of(c, 2) != NO_TENSOR && c->parameter == OP_LAYERNORM ? 3 : 2;
    struct type x = *type_of(c, input_of(c, 0));
    if (!normalize_axis(c, int_attribute(c, "axis", -1), x.rank, &axis))
        return false;
    inputs[0] = input_of(c, 0);
    for (uint32_t i = 1; i < n; i++) {
        inputs[i] = cast_to(c, input_of(c, i), x.dtype);
        if (type_of(c, inputs[i])->rank > x.rank - axis)
            return cannot(c, "its scale varies along axes that are not normalized");
        inputs[i] = broadcast_to(c, inputs[i], x.rank - axis, &x.dim[axis]);
    }
    tensor_id z =
        apply(c, (enum operator_id)c->parameter, n, inputs, WITH(integer("axis", axis), real("epsilon", epsilon)));
    return give(c, 0, z) && give_statistics(c, input_of(c, 0), axis, epsilon);
}

// Up to operator set 20 scale and bias are per group, later per channel.
static tensor_id per_channel(struct conversion *c, tensor_id vector, int64_t groups, int64_t channels)
{
    if (c->opset >= 21 || groups < 1 || channels % groups)
        return vector;
    tensor_id column = reshape_to(c, vector, 2, (int64_t[]){groups, 1});
    tensor_id matrix = broadcast_to(c, column, 2, (int64_t[]){groups, channels / groups});
    return reshape_to(c, matrix, 1, &channels);
}

bool convert_group_normalization(struct conversion *c)
{
    if (type_of(c, input_of(c, 0))->rank < 2)
        return cannot(c, "it has no channels");
    int64_t groups = int_attribute(c, "num_groups", 0), channels = type_of(c, input_of(c, 0))->dim[1];
    tensor_id inputs[3] = {input_of(c, 0), per_channel(c, input_of(c, 1), groups, channels),
                           per_channel(c, input_of(c, 2), groups, channels)};
    return give(c, 0,
                apply(c, OP_GROUPNORM, 3, inputs,
                      WITH(integer("groups", groups), real("epsilon", float_attribute(c, "epsilon", 1e-5)))));
}
