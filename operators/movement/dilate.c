// dilate: a tensor with a number between neighbouring entries of each axis (XLA's interior padding).
//     z[i] = x[i / (gap + 1)]   where gap + 1 divides i, else the value
#include "operators/operator.h"

enum { GAPS, VALUE };

static bool define_dilate(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *gaps = &call->attributes[GAPS];
    struct type shape = *x;
    if (gaps->count != (uint32_t)x->rank)
        return refuse(d, "dilate needs %d gaps", x->rank);
    for (int i = 0; i < x->rank; i++) {
        if (gaps->ints[i] < 0 || gaps->ints[i] > MAX_ELEMENTS / (x->dim[i] > 0 ? x->dim[i] : 1))
            return refuse(d, "dilate has a bad gap on axis %d", i);
        shape.dim[i] = x->dim[i] > 0 ? x->dim[i] + (x->dim[i] - 1) * gaps->ints[i] : 0;
    }
    int z = output_add(d, x->dtype, x->rank, shape.dim);
    expr index[MAX_RANK], value = scalar_real(d, call_real(call, VALUE));
    for (int i = 0; i < x->rank; i++)
        index[i] = index_div(d, stage_index(d, z, i), gaps->ints[i] + 1);
    expr body = scalar_read(d, 0, index);
    for (int i = x->rank - 1; i >= 0; i--) {
        expr beside = index_mod(d, stage_index(d, z, i), gaps->ints[i] + 1);
        body = scalar_select(d, index_mul(d, beside, -1), body, value);
    }
    stage_set_body(d, z, body);
    return true;
}

const struct operator operator_dilate = {
    .id = OP_DILATE,
    .name = "dilate",
    .summary = "a tensor with a number between its entries",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK | OPERATOR_IS_OF_RULES,
    .attributes = {[GAPS] = {.name = "gaps", .kind = ATTRIBUTE_INTS, .role = ROLE_GAPS, .is_required = true},
                   [VALUE] = {.name = "value", .kind = ATTRIBUTE_REAL}},
    .define = define_dilate,
};
