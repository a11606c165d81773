// axisscale: the last axis of a tensor times a vector, an operator of your own (docs/manual/authors.md).
//     z[i..., j] = x[i..., j] * w[j]
#include "operators/extra_operators.h"

static bool define_axisscale(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *w = &call->inputs[1];
    if (x->rank < 1 || w->rank != 1 || w->dim[0] != x->dim[x->rank - 1] || w->dtype != x->dtype ||
        !dtype_is_number(x->dtype))
        return refuse(d, "axisscale needs numbers, and a vector as long as their last axis");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr last = stage_index(d, z, x->rank - 1);
    stage_set_body(d, z, scalar_mul(d, scalar_read_same(d, 0, z), scalar_read(d, 1, &last)));
    return true;
}

extern const struct operator operator_axisscale;
const struct operator operator_axisscale = {
    .id = OP_AXISSCALE,
    .name = "axisscale",
    .summary = "the last axis times a vector",
    .min_inputs = 2,
    .define = define_axisscale,
};
