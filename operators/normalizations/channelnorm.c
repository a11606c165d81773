// batchnorm, instancenorm and groupnorm: images scaled channel by channel; axis 1 is the channel.
//     batchnorm     z[n,c,i] = (x[n,c,i] - mean[c]) / sqrt(var[c] + epsilon) * scale[c] + bias[c]
//     groupnorm     the same with mean and variance over the entries of x itself, for each image and group of C / G
//                   neighbouring channels:    m[n,g] = mean(c, i) x[n, g * C/G + c, i]
//     instancenorm  groupnorm with as many groups as channels
#include "operators/operator.h"
#include "operators/reductions/reduction.h"

enum { EPSILON, GROUPS };

static bool have_matching_types(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_float(x->dtype) || x->rank < 2)
        return refuse(d, "%s needs a floating-point tensor with a channel axis", call->op->name);
    for (int i = 1; i < call->n_inputs; i++) {
        const struct type *t = &call->inputs[i];
        if (t->dtype != x->dtype || t->rank != 1 || t->dim[0] != x->dim[1])
            return refuse(d, "%s needs one number for each channel", call->op->name);
    }
    return true;
}

static uint64_t number_of_channels(const struct operator_call *call, int input)
{
    const struct type *t = &call->inputs[input];
    bool fits = input == 0 ? t->rank >= 2 : t->rank == 1;
    return fits ? (uint64_t)t->dim[input == 0] : UINT64_MAX - (uint64_t)input;
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias
static expr scale_and_shift(struct definition *d, const struct operator_call *call, int z, expr mean, expr variance)
{
    expr above = scalar_sub(d, scalar_read_same(d, 0, z), mean);
    expr square = scalar_add(d, variance, scalar_real(d, call_real(call, EPSILON)));
    expr normal = scalar_div(d, above, scalar_unary(d, FN_SQRT, square));
    return scalar_add(d, scalar_mul(d, normal, read_on_axes(d, 1, z, 1u << 1)), read_on_axes(d, 2, z, 1u << 1));
}

static bool define_batchnorm(struct definition *d, const struct operator_call *call)
{
    if (!have_matching_types(d, call))
        return false;
    const struct type *x = &call->inputs[0];
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr mean = read_on_axes(d, 3, z, 1u << 1), variance = read_on_axes(d, 4, z, 1u << 1);
    stage_set_body(d, z, scale_and_shift(d, call, z, mean, variance));
    return true;
}

// Mean over each group of channels, of x or (with `mean` given) of its squared distance from the mean.
static int add_group_mean(struct definition *d, int64_t groups, bool has_mean, int mean)
{
    const struct type *x = &d->inputs[0];
    struct type grouped = *x;
    grouped.dim[1] = x->dim[1] / groups;
    int m = stage_add(d, x->dtype, 2, (int64_t[]){x->dim[0], groups});
    struct reduction r = reduction_begin(d, m, &grouped, axes_from(1, x->rank), REDUCED_AXES_DROPPED);
    if (groups > 1)
        r.index[1] = index_add(d, index_mul(d, stage_index(d, m, 1), grouped.dim[1]), r.index[1]);
    expr value = scalar_read(d, 0, r.index);
    if (has_mean)
        value = scalar_sub(d, value, scalar_read_same(d, mean, m));
    stage_set_body(d, m, reduction_mean(d, &r, has_mean ? scalar_mul(d, value, value) : value));
    return m;
}

static bool define_in_groups(struct definition *d, const struct operator_call *call, int64_t groups)
{
    const struct type *x = &call->inputs[0];
    int m = add_group_mean(d, groups, false, 0);
    int v = add_group_mean(d, groups, true, m);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    int64_t channels_of_group = x->dim[1] / groups > 0 ? x->dim[1] / groups : 1;
    expr at[2] = {stage_index(d, z, 0), index_div(d, stage_index(d, z, 1), channels_of_group)};
    stage_set_body(d, z, scale_and_shift(d, call, z, scalar_read(d, m, at), scalar_read(d, v, at)));
    return true;
}

static bool define_instancenorm(struct definition *d, const struct operator_call *call)
{
    return have_matching_types(d, call) &&
           define_in_groups(d, call, call->inputs[0].dim[1] > 0 ? call->inputs[0].dim[1] : 1);
}

static bool define_groupnorm(struct definition *d, const struct operator_call *call)
{
    int64_t groups = call_int(call, GROUPS);
    if (!have_matching_types(d, call))
        return false;
    if (groups < 1 || groups > MAX_ELEMENTS || call->inputs[0].dim[1] % groups)
        return refuse(d, "groupnorm needs channels that %lld groups divide", (long long)groups);
    return define_in_groups(d, call, groups);
}

#define EPSILON_ATTRIBUTE [EPSILON] = {.name = "epsilon", .kind = ATTRIBUTE_REAL, .standard_real = 1e-5}

const struct operator operator_batchnorm = {
    .id = OP_BATCHNORM,
    .name = "batchnorm",
    .onnx = "BatchNormalization (inference)",
    .summary = "x, scale, bias, mean, variance: channels with known statistics normalized",
    .min_inputs = 5,
    .attributes = {EPSILON_ATTRIBUTE},
    .define = define_batchnorm,
    .agreement = number_of_channels,
};

const struct operator operator_instancenorm = {
    .id = OP_INSTANCENORM,
    .name = "instancenorm",
    .onnx = "InstanceNormalization",
    .summary = "x, scale, bias: each channel of each image normalized",
    .min_inputs = 3,
    .attributes = {EPSILON_ATTRIBUTE},
    .define = define_instancenorm,
    .agreement = number_of_channels,
};

const struct operator operator_groupnorm = {
    .id = OP_GROUPNORM,
    .name = "groupnorm",
    .onnx = "GroupNormalization",
    .summary = "x, scale, bias: each group of channels of each image normalized",
    .min_inputs = 3,
    .attributes = {EPSILON_ATTRIBUTE, [GROUPS] = {.name = "groups", .kind = ATTRIBUTE_INT, .is_required = true}},
    .define = define_groupnorm,
    .agreement = number_of_channels,
};
