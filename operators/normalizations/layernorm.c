// layernorm and rmsnorm: each group of entries that agree on the axes before `axis` brought to one scale.
//     layernorm  m[i] = mean(k) x[i,k]    v[i] = mean(k) (x[i,k] - m[i])^2
//                z[i,j] = (x[i,j] - m[i]) / sqrt(v[i] + epsilon) * scale[j] + bias[j]          the bias may be left out
//     rmsnorm    v[i] = mean(k) x[i,k]^2     z[i,j] = x[i,j] / sqrt(v[i] + epsilon) * scale[j]
#include "operators/operator.h"
#include "operators/reductions/reduction.h"

enum { AXIS, EPSILON };

static bool have_matching_types(struct definition *d, const struct operator_call *call, int64_t axis)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_float(x->dtype))
        return refuse(d, "%s needs a floating-point tensor", call->op->name);
    if (axis < 0 || axis >= x->rank)
        return refuse(d, "%s has no axis %lld", call->op->name, (long long)axis);
    struct type wanted = type_make(x->dtype, x->rank - (int)axis, &x->dim[axis]);
    for (int i = 1; i < call->n_inputs; i++)
        if (!type_equal(&call->inputs[i], &wanted))
            return refuse(d, "%s needs scale and bias of the shape of the axes from %lld on", call->op->name,
                          (long long)axis);
    return true;
}

static int add_mean(struct definition *d, const struct type *x, int64_t axis)
{
    int m = stage_add(d, x->dtype, (int)axis, x->dim);
    struct reduction r = reduction_begin(d, m, x, axes_from((int)axis, x->rank), REDUCED_AXES_DROPPED);
    stage_set_body(d, m, reduction_mean(d, &r, scalar_read(d, 0, r.index)));
    return m;
}

// The mean of squares of what stands above the mean, or of all when has_mean is false.
static int add_mean_square(struct definition *d, const struct type *x, int64_t axis, bool has_mean, int m)
{
    int v = stage_add(d, x->dtype, (int)axis, x->dim);
    struct reduction r = reduction_begin(d, v, x, axes_from((int)axis, x->rank), REDUCED_AXES_DROPPED);
    expr value = scalar_read(d, 0, r.index);
    if (has_mean)
        value = scalar_sub(d, value, scalar_read_same(d, m, v));
    stage_set_body(d, v, reduction_mean(d, &r, scalar_mul(d, value, value)));
    return v;
}

static bool define_over_last_axes(struct definition *d, const struct operator_call *call)
{
    bool has_mean = call->op->variant;
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS);
    if (!have_matching_types(d, call, axis))
        return false;
    uint32_t axes = axes_from((int)axis, x->rank);
    int m = has_mean ? add_mean(d, x, axis) : 0;
    int v = add_mean_square(d, x, axis, has_mean, m);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr value = scalar_read_same(d, 0, z);
    if (has_mean)
        value = scalar_sub(d, value, read_reduced(d, m, z, axes));
    expr square = scalar_add(d, read_reduced(d, v, z, axes), scalar_real(d, call_real(call, EPSILON)));
    value = scalar_mul(d, scalar_div(d, value, scalar_unary(d, FN_SQRT, square)), read_on_axes(d, 1, z, axes));
    if (call->n_inputs == 3)
        value = scalar_add(d, value, read_on_axes(d, 2, z, axes));
    stage_set_body(d, z, value);
    return true;
}

#define LAST_AXES(enumerator, label, has_mean, onnx_name, text)                                                        \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 2,                                                                                               \
        .max_inputs = 2 + (has_mean),                                                                                  \
        .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},       \
                       [EPSILON] = {.name = "epsilon", .kind = ATTRIBUTE_REAL, .standard_real = 1e-5}},                \
        .variant = has_mean,                                                                                           \
        .define = define_over_last_axes,                                                                               \
    };
LAST_AXES(LAYERNORM, layernorm, true, "LayerNormalization", "x, scale, bias: mean 0 and variance 1 over the last axes")
LAST_AXES(RMSNORM, rmsnorm, false, "RMSNormalization", "x, scale: mean square 1 over the last axes")
