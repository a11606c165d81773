// Reductions and softmax.
#include "onnx/convert/operators/converters.h"

static bool begin_reduction(struct conversion *c, struct axes *ret_axes, bool *ret_keeps_axes)
{
    *ret_keeps_axes = int_attribute(c, "keepdims", 1) != 0;
    if (type_elements(type_of(c, input_of(c, 0))) == 0)
        return cannot(c, "it reduces nothing, of which runtimes make various shapes");
    return read_axes(c, type_of(c, input_of(c, 0))->rank, ret_axes);
}

// A mean of integers is a quotient of doubles here.
static bool is_mean_exact(struct conversion *c)
{
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    return c->parameter != OP_REDUCEMEAN || !dtype_is_integer(dtype) || dtype_size(dtype) < 8 ||
           cannot(c, "a mean of integers of 64 bits");
}

bool convert_reduce(struct conversion *c)
{
    struct axes axes;
    bool keeps;
    return begin_reduction(c, &axes, &keeps) && is_mean_exact(c) &&
           give(c, 0, reduce_by(c, (enum operator_id)c->parameter, input_of(c, 0), &axes, keeps));
}

// A sum of what one operator makes of the entries, and what another makes of it (SUM_OF); squares are products.
bool convert_sum_of(struct conversion *c)
{
    enum operator_id before = (enum operator_id)(c->parameter % SUM_OF(0, 1)),
                     after = (enum operator_id)(c->parameter / SUM_OF(0, 1));
    struct axes axes;
    bool keeps;
    if (!begin_reduction(c, &axes, &keeps))
        return false;
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    tensor_id x = cast_to(c, input_of(c, 0), dtype_of_stages(dtype));
    x = before == OP_EWMUL ? binary(c, before, x, x) : before == OP_COUNT ? x : unary(c, before, x);
    tensor_id sum = reduce_by(c, OP_REDUCESUM, x, &axes, keeps);
    return give(c, 0, cast_to(c, after == OP_COUNT ? sum : unary(c, after, sum), dtype));
}

// log(sum(exp(x))) = m + log(sum(exp(x - m))), m the maximum.
bool convert_reduce_log_sum_exp(struct conversion *c)
{
    struct axes axes;
    bool keeps;
    if (!begin_reduction(c, &axes, &keeps))
        return false;
    tensor_id x = input_of(c, 0);
    if (axes.is_nothing)
        return cannot(c, "there is nothing to reduce");
    tensor_id maximum = reduce_by(c, OP_REDUCEMAX, x, &axes, true);
    tensor_id sum = reduce_by(c, OP_REDUCESUM, unary(c, OP_EXP, binary(c, OP_SUB, x, maximum)), &axes, keeps);
    struct type reduced = *type_of(c, sum);
    return give(c, 0, binary(c, OP_EWADD, unary(c, OP_LOG, sum), reshape_to(c, maximum, reduced.rank, reduced.dim)));
}

bool convert_arg_reduce(struct conversion *c)
{
    int axis;
    return normalize_axis(c, int_attribute(c, "axis", 0), type_of(c, input_of(c, 0))->rank, &axis) &&
           give(c, 0,
                apply(c, (enum operator_id)c->parameter, 1, c->inputs,
                      WITH(integer("axis", axis), integer("keepdims", int_attribute(c, "keepdims", 1) != 0),
                           integer("ties", int_attribute(c, "select_last_index", 0) != 0))));
}

bool convert_cumulative_sum(struct conversion *c)
{
    int64_t named;
    int axis;
    return constant_int(c, input_of(c, 1), &named) &&
           normalize_axis(c, named, type_of(c, input_of(c, 0))->rank, &axis) &&
           give(c, 0,
                apply(c, OP_CUMSUM, 1, c->inputs,
                      WITH(integer("axis", axis), integer("exclusive", int_attribute(c, "exclusive", 0) != 0),
                           integer("reverse", int_attribute(c, "reverse", 0) != 0))));
}

static tensor_id softmax_on(struct conversion *c, tensor_id x, int axis)
{
    return apply(c, (enum operator_id)c->parameter, INPUTS(x), WITH(integer("axis", axis)));
}

// Axes from `axis` on are one before operator set 13.
bool convert_softmax(struct conversion *c)
{
    int axis;
    tensor_id x = input_of(c, 0);
    struct type type = *type_of(c, x);
    if (!normalize_axis(c, int_attribute(c, "axis", c->opset < 13 ? 1 : -1), type.rank, &axis))
        return false;
    if (c->opset >= 13 || axis == type.rank - 1)
        return give(c, 0, softmax_on(c, x, axis));
    int64_t dim[2] = {entries_between(&type, 0, axis), entries_between(&type, axis, type.rank)};
    tensor_id z = softmax_on(c, reshape_to(c, x, 2, dim), 1);
    return give(c, 0, reshape_to(c, z, type.rank, type.dim));
}

// Hardmax is one at the first maximum along an axis, else zero.
bool convert_hardmax(struct conversion *c)
{
    static const double values[] = {0, 1};
    int axis;
    int64_t two = 2;
    struct type x = *type_of(c, input_of(c, 0));
    if (!normalize_axis(c, int_attribute(c, "axis", c->opset < 13 ? 1 : -1), x.rank, &axis))
        return false;
    if (c->opset < 13 && axis != x.rank - 1)
        return cannot(c, "it takes several axes for one");
    tensor_id place = apply(c, OP_ARGMAX, 1, c->inputs, WITH(integer("axis", axis), integer("keepdims", 0)));
    return give(c, 0,
                apply(c, OP_ONEHOT, INPUTS(place, real_weight(c, x.dtype, 1, &two, values)),
                      WITH(integer("axis", axis), integer("depth", x.dim[axis]))));
}
