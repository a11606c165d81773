// matmul: product of matrices, one for each index of the leading (batch) axes. A y of rank 2 is shared by the batch.
//     z[b...,m,n] = act( sum(k) x[b...,m,k] * y[b...,k,n] )        or y[k,n]
#include "operators/elementwise/fused_activation.h"
#include "operators/operator.h"

enum { ACT };

static bool have_matching_types(struct definition *d, const struct type *x, const struct type *y)
{
    if (x->dtype != y->dtype || !dtype_is_number(x->dtype))
        return refuse(d, "matmul needs numbers of one element type");
    if (x->rank < 2 || (y->rank != x->rank && y->rank != 2))
        return refuse(d, "matmul needs ranks that agree from 2 on, or a right side of rank 2");
    if (x->dim[x->rank - 1] != y->dim[y->rank - 2])
        return refuse(d, "matmul sums over axes of different sizes");
    for (int i = 0; y->rank == x->rank && i < x->rank - 2; i++)
        if (x->dim[i] != y->dim[i])
            return refuse(d, "matmul needs equal batch axes");
    return true;
}

static uint64_t size_summed_over(const struct operator_call *call, int input)
{
    const struct type *t = &call->inputs[input];
    return t->rank < 2 ? 0 : (uint64_t)t->dim[input == 0 ? t->rank - 1 : t->rank - 2];
}

static bool define_matmul(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *y = &call->inputs[1];
    if (!have_matching_types(d, x, y))
        return false;
    int rank = x->rank, batch_of_y = y->rank - 2;
    struct type shape = *x;
    shape.dim[rank - 1] = y->dim[y->rank - 1];
    int z = output_add(d, x->dtype, rank, shape.dim);
    expr k = reduce_variable(d, x->dim[rank - 1]);
    expr of_x[MAX_RANK], of_y[MAX_RANK];
    for (int i = 0; i < rank - 1; i++)
        of_x[i] = stage_index(d, z, i);
    of_x[rank - 1] = k;
    for (int i = 0; i < batch_of_y; i++)
        of_y[i] = stage_index(d, z, i);
    of_y[batch_of_y] = k;
    of_y[batch_of_y + 1] = stage_index(d, z, rank - 1);
    expr product = scalar_mul(d, scalar_read(d, 0, of_x), scalar_read(d, 1, of_y));
    expr sum = scalar_reduce(d, FN_ADD, k, product);
    stage_set_body(d, z, activation_apply(d, (enum activation)call_int(call, ACT), sum));
    return true;
}

const struct operator operator_matmul = {
    .id = OP_MATMUL,
    .name = "matmul",
    .onnx = "MatMul, Gemm",
    .summary = "(batched) matrix product",
    .min_inputs = 2,
    .attributes = {[ACT] = ACTIVATION_ATTRIBUTE},
    .define = define_matmul,
    .agreement = size_summed_over,
};
