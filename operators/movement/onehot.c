// onehot: for every index a vector of `depth` entries, on a new axis, that is on at the index and off elsewhere.
//     z[..., k, ...] = values[1] if indices[...] is k or k - depth, else values[0]
#include "operators/operator.h"

enum { AXIS, DEPTH };

static bool have_matching_types(struct definition *d, const struct operator_call *call)
{
    const struct type *indices = &call->inputs[0], *values = &call->inputs[1];
    int64_t axis = call_int(call, AXIS), depth = call_int(call, DEPTH);
    if (!dtype_is_integer(indices->dtype))
        return refuse(d, "onehot needs integer indices");
    if (values->rank != 1 || values->dim[0] != 2)
        return refuse(d, "onehot needs two values, off and on");
    if (indices->rank == MAX_RANK || axis < 0 || axis > indices->rank)
        return refuse(d, "onehot cannot make an axis %lld", (long long)axis);
    return (depth >= 0 && depth <= MAX_ELEMENTS) || refuse(d, "onehot of depth %lld", (long long)depth);
}

static bool define_onehot(struct definition *d, const struct operator_call *call)
{
    const struct type *indices = &call->inputs[0], *values = &call->inputs[1];
    int64_t axis = call_int(call, AXIS), depth = call_int(call, DEPTH), dim[MAX_RANK];
    if (!have_matching_types(d, call))
        return false;
    int rank = indices->rank + 1;
    for (int i = 0; i < rank; i++)
        dim[i] = i < axis ? indices->dim[i] : i == axis ? depth : indices->dim[i - 1];
    int z = output_add(d, values->dtype, rank, dim);
    expr at[MAX_RANK];
    for (int i = 0; i < indices->rank; i++)
        at[i] = stage_index(d, z, i < axis ? i : i + 1);
    expr index = scalar_read(d, 0, at), place = scalar_of(d, stage_index(d, z, (int)axis));
    expr from_end = scalar_add(d, index, scalar_real(d, (double)depth));
    expr is_on = scalar_apply(d, FN_OR, scalar_apply(d, FN_EQUAL, index, place, 0),
                              scalar_apply(d, FN_EQUAL, from_end, place, 0), 0);
    expr zero = index_integer(d, 0), one = index_integer(d, 1);
    stage_set_body(d, z, scalar_apply(d, FN_WHERE, is_on, scalar_read(d, 1, &one), scalar_read(d, 1, &zero)));
    return true;
}

const struct operator operator_onehot = {
    .id = OP_ONEHOT,
    .name = "onehot",
    .onnx = "OneHot (known depth)",
    .summary = "indices, (off on): vectors that are on at one place",
    .min_inputs = 2,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},
                   [DEPTH] = {.name = "depth", .kind = ATTRIBUTE_INT, .is_required = true}},
    .define = define_onehot,
};
