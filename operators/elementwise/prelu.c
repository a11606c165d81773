// prelu: the negative entries of x times the slopes at their places.
//     z[i] = relu(x[i]) - slope[i] * relu(-x[i])
#include "operators/operator.h"

static bool define_prelu(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_float(x->dtype) || !type_equal(x, &call->inputs[1]))
        return refuse(d, "prelu needs two floating-point tensors of one type");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr value = scalar_read_same(d, 0, z);
    expr below = scalar_unary(d, FN_RELU, scalar_unary(d, FN_NEG, value));
    expr bent = scalar_mul(d, scalar_read_same(d, 1, z), below);
    stage_set_body(d, z, scalar_sub(d, scalar_unary(d, FN_RELU, value), bent));
    return true;
}

const struct operator operator_prelu = {
    .id = OP_PRELU,
    .name = "prelu",
    .onnx = "PRelu",
    .summary = "x, or slope * x where x is negative",
    .min_inputs = 2,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .define = define_prelu,
};
