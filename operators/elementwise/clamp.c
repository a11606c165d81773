// clamp: entries between bounds that are tensors; where the bounds cross it is the upper one.
//     z[i] = min(max(x[i], low[i]), high[i])
#include "operators/operator.h"

static bool define_clamp(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_number(x->dtype))
        return refuse(d, "clamp needs numbers");
    for (int i = 1; i < call->n_inputs; i++)
        if (!type_equal_shape(x, &call->inputs[i]) || call->inputs[i].dtype != x->dtype)
            return refuse(d, "clamp needs bounds of the type of what is between them");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr above = scalar_apply(d, FN_MAX, scalar_read_same(d, 0, z), scalar_read_same(d, 1, z), 0);
    stage_set_body(d, z, scalar_apply(d, FN_MIN, above, scalar_read_same(d, 2, z), 0));
    return true;
}

const struct operator operator_clamp = {
    .id = OP_CLAMP,
    .name = "clamp",
    .summary = "x, low, high: entries between two others",
    .min_inputs = 3,
    .flags = OPERATOR_IS_ELEMENTWISE | OPERATOR_IS_OF_RULES,
    .define = define_clamp,
};
