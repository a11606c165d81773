// cumsum: running sums along an axis, with or without the entry itself, from the front or the back.
//     z[i] = sum(k < size) x[k] if k <= i, else 0
#include "operators/operator.h"

enum { AXIS, EXCLUSIVE, REVERSE };

static bool define_cumsum(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS), exclusive = call_int(call, EXCLUSIVE), reverse = call_int(call, REVERSE);
    if (!dtype_is_number(x->dtype))
        return refuse(d, "cumsum needs numbers");
    if (axis < 0 || axis >= x->rank)
        return refuse(d, "cumsum has no axis %lld", (long long)axis);
    if (exclusive < 0 || exclusive > 1 || reverse < 0 || reverse > 1)
        return refuse(d, "exclusive and reverse of cumsum are 0 or 1");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr index[MAX_RANK], k = reduce_variable(d, x->dim[axis]);
    for (int i = 0; i < x->rank; i++)
        index[i] = i == axis ? k : stage_index(d, z, i);
    expr distance = index_add(d, stage_index(d, z, (int)axis), index_mul(d, k, -1));
    distance = index_offset(d, reverse ? index_mul(d, distance, -1) : distance, -exclusive);
    expr entry = scalar_select(d, distance, scalar_read(d, 0, index), scalar_real(d, 0));
    stage_set_body(d, z, scalar_reduce(d, FN_ADD, k, entry));
    return true;
}

const struct operator operator_cumsum = {
    .id = OP_CUMSUM,
    .name = "cumsum",
    .onnx = "CumSum (known axis)",
    .summary = "running sums along an axis",
    .min_inputs = 1,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},
                   [EXCLUSIVE] = {.name = "exclusive", .kind = ATTRIBUTE_INT},
                   [REVERSE] = {.name = "reverse", .kind = ATTRIBUTE_INT}},
    .define = define_cumsum,
};
