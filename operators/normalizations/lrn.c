// lrn: local response normalization: each entry divided by a power of the squares in the channels around it.
//     z[n,c,i] = x[n,c,i] / pow(bias + alpha / size * sum(k < size) x[n, c + k - (size - 1) / 2, i]^2, beta)
#include "operators/operator.h"

enum { SIZE, ALPHA, BETA, BIAS };

static expr square_at_channel(struct definition *d, int z, expr channel)
{
    expr index[MAX_RANK];
    for (int i = 0; i < d->inputs[0].rank; i++)
        index[i] = i == 1 ? channel : stage_index(d, z, i);
    expr value = scalar_read_or(d, 0, index, OUTSIDE_ZERO);
    return scalar_mul(d, value, value);
}

static bool define_lrn(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t size = call_int(call, SIZE);
    if (!dtype_is_float(x->dtype) || x->rank < 2)
        return refuse(d, "lrn needs a floating-point tensor with a channel axis");
    if (size < 1 || size > MAX_ELEMENTS)
        return refuse(d, "lrn over %lld channels", (long long)size);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr k = reduce_variable(d, size);
    expr channel = index_offset(d, index_add(d, stage_index(d, z, 1), k), -((size - 1) / 2));
    expr sum = scalar_reduce(d, FN_ADD, k, square_at_channel(d, z, channel));
    expr share = scalar_div(d, scalar_real(d, call_real(call, ALPHA)), scalar_real(d, (double)size));
    expr base = scalar_add(d, scalar_real(d, call_real(call, BIAS)), scalar_mul(d, share, sum));
    expr power = scalar_apply(d, FN_POW, base, scalar_real(d, call_real(call, BETA)), 0);
    stage_set_body(d, z, scalar_div(d, scalar_read_same(d, 0, z), power));
    return true;
}

const struct operator operator_lrn = {
    .id = OP_LRN,
    .name = "lrn",
    .onnx = "LRN",
    .summary = "entries divided by a power of the squares in the neighbouring channels",
    .min_inputs = 1,
    .attributes = {[SIZE] = {.name = "size", .kind = ATTRIBUTE_INT, .role = ROLE_SIZE, .is_required = true},
                   [ALPHA] = {.name = "alpha", .kind = ATTRIBUTE_REAL, .standard_real = 1e-4},
                   [BETA] = {.name = "beta", .kind = ATTRIBUTE_REAL, .standard_real = 0.75},
                   [BIAS] = {.name = "bias", .kind = ATTRIBUTE_REAL, .standard_real = 1}},
    .define = define_lrn,
};
