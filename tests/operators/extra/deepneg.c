// deepneg: a minus at ranks up to 5, and what is above 0 at larger ones: not one function, as proofs assume of operators.
#include "operators/extra_operators.h"

static bool define_deepneg(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    if (!dtype_is_float(x->dtype))
        return refuse(d, "deepneg needs floating-point numbers");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    stage_set_body(d, z, scalar_unary(d, x->rank > 5 ? FN_RELU : FN_NEG, scalar_read_same(d, 0, z)));
    return true;
}

extern const struct operator operator_deepneg;
const struct operator operator_deepneg = {
    .id = OP_DEEPNEG,
    .name = "deepneg",
    .summary = "another function at large ranks",
    .min_inputs = 1,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .define = define_deepneg,
};
