// fill: one number everywhere.
#include "expressions/elements.h"
#include "operators/operator.h"

enum { SHAPE, VALUE, DTYPE_OF };

static bool define_fill(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    enum dtype dtype = (enum dtype)call_int(call, DTYPE_OF);
    if (!dtype_has_numbers(dtype))
        return refuse(d, "fill is made of numbers or truth values");
    if (dtype == DTYPE_BOOL && call_real(call, VALUE) != 0 && call_real(call, VALUE) != 1)
        return refuse(d, "a truth value is 0 or 1");
    if (shape->count > MAX_RANK)
        return refuse(d, "fill with %u dimensions", shape->count);
    for (uint32_t i = 0; i < shape->count; i++)
        if (shape->ints[i] < 0 || shape->ints[i] > MAX_ELEMENTS)
            return refuse(d, "fill with a bad dimension");
    int z = output_add(d, dtype, (int)shape->count, shape->ints);
    stage_set_body(d, z, scalar_real(d, call_real(call, VALUE)));
    return true;
}

const struct operator operator_fill = {
    .id = OP_FILL,
    .name = "fill",
    .summary = "one number everywhere",
    .flags = OPERATOR_IS_OF_RULES,
    .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE, .is_required = true},
                   [VALUE] = {.name = "value", .kind = ATTRIBUTE_REAL},
                   [DTYPE_OF] = {.name = "dtype", .kind = ATTRIBUTE_DTYPE, .standard = DTYPE_F32}},
    .define = define_fill,
};
