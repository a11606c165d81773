// axisshare: entries divided by the size of an axis: a number that depends on sizes, and divides no sum.
#include "operators/extra_operators.h"

enum { AXIS };

static bool define_axisshare(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS);
    if (!dtype_is_float(x->dtype) || axis < 0 || axis >= x->rank)
        return refuse(d, "axisshare needs floating-point numbers and an axis of them");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    stage_set_body(d, z, scalar_div(d, scalar_read_same(d, 0, z), scalar_real(d, (double)x->dim[axis])));
    return true;
}

extern const struct operator operator_axisshare;
const struct operator operator_axisshare = {
    .id = OP_AXISSHARE,
    .name = "axisshare",
    .summary = "entries divided by the size of an axis",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true}},
    .define = define_axisshare,
};
