// range: the numbers 0, 1, 2, ... along an axis.
//     z[..., i, ...] = i
#include "operators/operator.h"

enum { AXIS, SHAPE, DTYPE_OF };

static bool define_range(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    enum dtype dtype = (enum dtype)call_int(call, DTYPE_OF);
    int64_t axis = call_int(call, AXIS);
    if (!dtype_is_number(dtype))
        return refuse(d, "range is made of numbers");
    if (shape->count > MAX_RANK || axis < 0 || axis >= shape->count)
        return refuse(d, "range has no axis %lld", (long long)axis);
    for (uint32_t i = 0; i < shape->count; i++)
        if (shape->ints[i] < 0 || shape->ints[i] > MAX_ELEMENTS)
            return refuse(d, "range with a bad dimension");
    int z = output_add(d, dtype, (int)shape->count, shape->ints);
    stage_set_body(d, z, scalar_of(d, stage_index(d, z, (int)axis)));
    return true;
}

const struct operator operator_range = {
    .id = OP_RANGE,
    .name = "range",
    .summary = "0, 1, 2, ... along an axis",
    .flags = OPERATOR_IS_OF_RULES,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},
                   [SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE, .is_required = true},
                   [DTYPE_OF] = {.name = "dtype", .kind = ATTRIBUTE_DTYPE, .standard = DTYPE_F32}},
    .define = define_range,
};
