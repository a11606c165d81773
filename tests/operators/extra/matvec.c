// matvec: matrices times a vector: a contraction that drops the last axis, as products of matrices do not.
//     z[i...] = sum(k) x[i..., k] * w[k]
#include "operators/extra_operators.h"

static bool define_matvec(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *w = &call->inputs[1];
    if (!dtype_is_float(x->dtype) || w->dtype != x->dtype || x->rank < 1 || w->rank != 1 ||
        w->dim[0] != x->dim[x->rank - 1])
        return refuse(d, "matvec needs floating-point numbers, and a vector as long as their last axis");
    int z = output_add(d, x->dtype, x->rank - 1, x->dim);
    expr index[MAX_RANK], k = reduce_variable(d, w->dim[0]);
    for (int i = 0; i < x->rank - 1; i++)
        index[i] = stage_index(d, z, i);
    index[x->rank - 1] = k;
    expr product = scalar_mul(d, scalar_read(d, 0, index), scalar_read(d, 1, &k));
    stage_set_body(d, z, scalar_reduce(d, FN_ADD, k, product));
    return true;
}

extern const struct operator operator_matvec;
const struct operator operator_matvec = {
    .id = OP_MATVEC,
    .name = "matvec",
    .summary = "matrices times a vector",
    .min_inputs = 2,
    .define = define_matvec,
};
