// The paper's constants (Table 1): tensors that other operators leave unchanged, or turn into one another.
//     cpool     a convolution with it, in as many groups as channels, is average pooling     1 / (R * S)
//     iconv     a convolution with it is the identity                                       c = f, at the middle
//     imatmul   the identity matrix
//     iewmul    ones
#include "operators/operator.h"

enum { SHAPE, DTYPE_OF };

static bool is_shape(struct definition *d, const struct operator_call *call, uint32_t least, uint32_t most)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (!dtype_is_number((enum dtype)call_int(call, DTYPE_OF)))
        return refuse(d, "%s is made of numbers", call->op->name);
    if (shape->count < least || shape->count > most)
        return refuse(d, "a constant with %u dimensions", shape->count);
    for (uint32_t i = 0; i < shape->count; i++)
        if (shape->ints[i] < 0 || shape->ints[i] > MAX_ELEMENTS)
            return refuse(d, "a constant with a bad dimension");
    return true;
}

static int add_constant(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    return output_add(d, (enum dtype)call_int(call, DTYPE_OF), (int)shape->count, shape->ints);
}

// 1 where the index expression is 0, else 0.
static expr one_at_zero(struct definition *d, expr index)
{
    expr one = scalar_real(d, 1), zero = scalar_real(d, 0);
    return scalar_select(d, index, scalar_select(d, index_mul(d, index, -1), one, zero), zero);
}

static bool define_iewmul(struct definition *d, const struct operator_call *call)
{
    if (!is_shape(d, call, 0, MAX_RANK))
        return false;
    stage_set_body(d, add_constant(d, call), scalar_real(d, 1));
    return true;
}

static bool define_imatmul(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (!is_shape(d, call, 2, 2))
        return false;
    if (shape->ints[0] != shape->ints[1])
        return refuse(d, "the identity matrix is square");
    int z = add_constant(d, call);
    expr difference = index_add(d, stage_index(d, z, 0), index_mul(d, stage_index(d, z, 1), -1));
    stage_set_body(d, z, one_at_zero(d, difference));
    return true;
}

static bool define_cpool(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (!is_shape(d, call, 3, MAX_RANK))
        return false;
    if (!dtype_is_float((enum dtype)call_int(call, DTYPE_OF)))
        return refuse(d, "cpool is made of floating-point numbers");
    double places = 1;
    for (uint32_t i = 2; i < shape->count; i++)
        places *= (double)shape->ints[i];
    if (shape->ints[1] != 1 || places == 0)
        return refuse(d, "cpool is the kernel (channels, 1, window sizes) of a depthwise convolution");
    int z = add_constant(d, call);
    stage_set_body(d, z, scalar_div(d, scalar_real(d, 1), scalar_real(d, places)));
    return true;
}

static bool define_iconv(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (!is_shape(d, call, 3, MAX_RANK))
        return false;
    if (shape->ints[0] != shape->ints[1])
        return refuse(d, "iconv has as many filters as channels");
    for (uint32_t i = 2; i < shape->count; i++)
        if (shape->ints[i] % 2 == 0)
            return refuse(d, "iconv needs a middle: odd window sizes");
    int z = add_constant(d, call);
    expr difference = index_add(d, stage_index(d, z, 0), index_mul(d, stage_index(d, z, 1), -1));
    expr body = one_at_zero(d, difference);
    for (int i = 2; i < (int)shape->count; i++) {
        expr from_middle = index_offset(d, stage_index(d, z, i), -(shape->ints[i] / 2));
        body = scalar_mul(d, body, one_at_zero(d, from_middle));
    }
    stage_set_body(d, z, body);
    return true;
}

#define CONSTANT(enumerator, label, text)                                                                              \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .summary = text,                                                                                               \
        .flags = OPERATOR_IS_OF_RULES,                                                                                 \
        .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE, .is_required = true},   \
                       [DTYPE_OF] = {.name = "dtype", .kind = ATTRIBUTE_DTYPE, .standard = DTYPE_F32}},                \
        .define = define_##label,                                                                                      \
    };
CONSTANT(CPOOL, cpool, "kernel that makes a depthwise convolution an average pooling")
CONSTANT(ICONV, iconv, "kernel that makes a convolution the identity")
CONSTANT(IMATMUL, imatmul, "identity matrix")
CONSTANT(IEWMUL, iewmul, "ones")
