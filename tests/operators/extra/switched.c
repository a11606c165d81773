// switched: a tensor as it is, and what is above 0 of it where the mode is 7: a form that depends on a number of which no
// role says what it is for.
//     z[i] = x[i]      z[i] = relu(x[i])
#include "operators/extra_operators.h"

enum { MODE };

static bool define_switched(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t mode = call_int(call, MODE);
    if (!dtype_is_float(x->dtype))
        return refuse(d, "switched needs floating-point numbers");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr entry = scalar_read_same(d, 0, z);
    stage_set_body(d, z, mode == 7 ? scalar_unary(d, FN_RELU, entry) : entry);
    return true;
}

extern const struct operator operator_switched;
const struct operator operator_switched = {
    .id = OP_SWITCHED,
    .name = "switched",
    .summary = "all, or what is above 0",
    .min_inputs = 1,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .attributes = {[MODE] = {.name = "mode", .kind = ATTRIBUTE_INT, .standard = 1}},
    .define = define_switched,
};
