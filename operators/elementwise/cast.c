// cast: the same values in another element type. To an integer type fractions are cut off; to bool every value but 0 is
// true. Rounding to a narrower floating-point type happens where values are stored, not in the definition.
#include "expressions/elements.h"
#include "operators/operator.h"

enum { TO };

static bool define_cast(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    enum dtype to = (enum dtype)call_int(call, TO);
    if (!dtype_has_numbers(x->dtype) || !dtype_has_numbers(to))
        return refuse(d, "no cast from %s to %s", dtype_name(x->dtype), dtype_name(to));
    int z = output_add(d, to, x->rank, x->dim);
    expr value = scalar_read_same(d, 0, z);
    if (to == DTYPE_BOOL && x->dtype != DTYPE_BOOL)
        value = scalar_unary(d, FN_NOT, scalar_apply(d, FN_EQUAL, value, scalar_real(d, 0), 0));
    else if (dtype_is_integer(to) && dtype_is_float(x->dtype))
        value = scalar_unary(d, FN_TRUNC, value);
    stage_set_body(d, z, value);
    return true;
}

const struct operator operator_cast = {
    .id = OP_CAST,
    .name = "cast",
    .onnx = "Cast",
    .summary = "another element type",
    .min_inputs = 1,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .attributes = {[TO] = {.name = "to", .kind = ATTRIBUTE_DTYPE, .is_required = true}},
    .define = define_cast,
};
