// squarerelu: an activation, the square of what is above 0.
//     z[i] = relu(x[i])^2
#include "operators/extra_operators.h"

static bool define_squarerelu(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_number(x->dtype))
        return refuse(d, "squarerelu needs numbers");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr above = scalar_unary(d, FN_RELU, scalar_read_same(d, 0, z));
    stage_set_body(d, z, scalar_mul(d, above, above));
    return true;
}

extern const struct operator operator_squarerelu;
const struct operator operator_squarerelu = {
    .id = OP_SQUARERELU,
    .name = "squarerelu",
    .summary = "the square of what is above 0",
    .min_inputs = 1,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .define = define_squarerelu,
};
