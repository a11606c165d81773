// softmax and logsoftmax: exponentials along an axis, divided by their sum; the maximum is subtracted first, so that
// nothing overflows.
//     m[i] = max(k) x[i,k]      s[i] = sum(k) exp(x[i,k] - m[i])
//     softmax  z[i,j] = exp(x[i,j] - m[i]) / s[i]         logsoftmax  z[i,j] = (x[i,j] - m[i]) - log(s[i])
#include "operators/operator.h"
#include "operators/reductions/reduction.h"

enum { AXIS };

static int add_maximum(struct definition *d, const struct type *x, uint32_t axes, int rank, const int64_t *dim)
{
    int m = stage_add(d, x->dtype, rank, dim);
    struct reduction r = reduction_begin(d, m, x, axes, REDUCED_AXES_DROPPED);
    stage_set_body(d, m, reduction_finish(d, &r, FN_MAX, scalar_read(d, 0, r.index)));
    return m;
}

static int add_sum(struct definition *d, const struct type *x, uint32_t axes, int rank, const int64_t *dim, int m)
{
    int s = stage_add(d, x->dtype, rank, dim);
    struct reduction r = reduction_begin(d, s, x, axes, REDUCED_AXES_DROPPED);
    expr above = scalar_sub(d, scalar_read(d, 0, r.index), scalar_read_same(d, m, s));
    stage_set_body(d, s, reduction_finish(d, &r, FN_ADD, scalar_unary(d, FN_EXP, above)));
    return s;
}

static bool define_along_axis(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS), dim[MAX_RANK];
    if (!dtype_is_float(x->dtype))
        return refuse(d, "%s needs a floating-point tensor", call->op->name);
    if (axis < 0 || axis >= x->rank)
        return refuse(d, "%s has no axis %lld", call->op->name, (long long)axis);
    uint32_t axes = 1u << axis;
    int rank = reduced_shape(x, axes, REDUCED_AXES_DROPPED, dim);
    int m = add_maximum(d, x, axes, rank, dim);
    int s = add_sum(d, x, axes, rank, dim, m);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr above = scalar_sub(d, scalar_read_same(d, 0, z), read_reduced(d, m, z, axes));
    expr sum = read_reduced(d, s, z, axes);
    stage_set_body(d, z,
                   call->op->variant ? scalar_sub(d, above, scalar_unary(d, FN_LOG, sum))
                                     : scalar_div(d, scalar_unary(d, FN_EXP, above), sum));
    return true;
}

#define ALONG_AXIS(enumerator, label, is_log, onnx_name, text)                                                         \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 1,                                                                                               \
        .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true}},      \
        .variant = is_log,                                                                                             \
        .define = define_along_axis,                                                                                   \
    };
ALONG_AXIS(SOFTMAX, softmax, false, "Softmax", "exponentials along an axis that sum to 1")
ALONG_AXIS(LOGSOFTMAX, logsoftmax, true, "LogSoftmax", "logarithm of softmax")
