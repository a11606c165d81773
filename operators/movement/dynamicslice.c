// dynamicslice and updateslice: a box of a tensor whose corner is data, read or written over. The box stays inside:
// each start is brought to the nearest one at which it does.
//     dynamicslice   z[i...] = x[start... + i...]
//     updateslice    z[i...] = y[i... - start...]   where that is inside of y, else x[i...]
#include "operators/operator.h"

enum { SIZE };

static bool have_starts(struct definition *d, const struct operator_call *call, const struct type *starts)
{
    const struct type *x = &call->inputs[0];
    return (dtype_is_integer(starts->dtype) && starts->rank == 1 && starts->dim[0] == x->rank) ||
           refuse(d, "%s needs a vector of %d integers that says where it starts", call->op->name, x->rank);
}

static expr start_on_axis(struct definition *d, int starts, int axis, int64_t last)
{
    expr at = index_integer(d, axis);
    expr start = scalar_apply(d, FN_MAX, scalar_read(d, starts, &at), scalar_real(d, 0), 0);
    return index_of(d, scalar_apply(d, FN_MIN, start, scalar_real(d, (double)last), 0));
}

static bool define_dynamicslice(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *size = &call->attributes[SIZE];
    if (!have_starts(d, call, &call->inputs[1]))
        return false;
    if (size->count != (uint32_t)x->rank)
        return refuse(d, "dynamicslice needs %d sizes", x->rank);
    for (int i = 0; i < x->rank; i++)
        if (size->ints[i] < 0 || size->ints[i] > x->dim[i])
            return refuse(d, "dynamicslice has a bad size on axis %d", i);
    int z = output_add(d, x->dtype, x->rank, size->ints);
    expr index[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        index[i] = index_add(d, stage_index(d, z, i), start_on_axis(d, 1, i, x->dim[i] - size->ints[i]));
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

static bool define_updateslice(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *y = &call->inputs[1];
    if (!have_starts(d, call, &call->inputs[2]))
        return false;
    if (y->rank != x->rank || y->dtype != x->dtype)
        return refuse(d, "updateslice needs a box of the rank and element type of what it is put into");
    for (int i = 0; i < x->rank; i++)
        if (y->dim[i] > x->dim[i])
            return refuse(d, "updateslice has a box that is too large on axis %d", i);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr index[MAX_RANK], body = scalar_read_same(d, 0, z);
    for (int i = 0; i < x->rank; i++) {
        expr start = start_on_axis(d, 2, i, x->dim[i] - y->dim[i]);
        index[i] = index_add(d, stage_index(d, z, i), index_mul(d, start, -1));
    }
    expr old = body;
    body = scalar_read_or(d, 1, index, OUTSIDE_ZERO);
    for (int i = 0; i < x->rank; i++) {
        expr room = index_offset(d, index_mul(d, index[i], -1), y->dim[i] - 1);
        body = scalar_select(d, index[i], scalar_select(d, room, body, old), old);
    }
    stage_set_body(d, z, body);
    return true;
}

const struct operator operator_dynamicslice = {
    .id = OP_DYNAMICSLICE,
    .name = "dynamicslice",
    .summary = "x, start: a box of x",
    .min_inputs = 2,
    .flags = OPERATOR_IS_OF_RULES,
    .attributes = {[SIZE] = {.name = "size", .kind = ATTRIBUTE_INTS, .role = ROLE_SIZE, .is_required = true}},
    .define = define_dynamicslice,
};
const struct operator operator_updateslice = {
    .id = OP_UPDATESLICE,
    .name = "updateslice",
    .summary = "x, y, start: x with y in place of a box of it",
    .min_inputs = 3,
    .flags = OPERATOR_IS_OF_RULES,
    .define = define_updateslice,
};
