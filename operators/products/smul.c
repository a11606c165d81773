// smul: every entry of a tensor times one scalar tensor (rank 0).
//     z[i...] = x[i...] * w[]
#include "operators/operator.h"

static bool define_smul(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *w = &call->inputs[1];
    if (w->rank != 0 || w->dtype != x->dtype || !dtype_is_number(x->dtype))
        return refuse(d, "smul multiplies numbers by a tensor of rank 0 of the same element type");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    stage_set_body(d, z, scalar_mul(d, scalar_read_same(d, 0, z), scalar_read(d, 1, NULL)));
    return true;
}

const struct operator operator_smul = {
    .id = OP_SMUL,
    .name = "smul",
    .onnx = "Mul (by a scalar)",
    .summary = "tensor times scalar",
    .min_inputs = 2,
    .flags = OPERATOR_IS_OF_RULES,
    .define = define_smul,
};
