// longsum: sums along the last axis, of squares where it is longer than 7: not one function, as proofs assume of operators.
#include "operators/extra_operators.h"
#include "operators/reductions/reduction.h"

enum { AXIS };

static bool define_longsum(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS), dim[MAX_RANK];
    if (!dtype_is_float(x->dtype) || axis < 0 || axis >= x->rank)
        return refuse(d, "longsum needs floating-point numbers and an axis of them");
    int rank = reduced_shape(x, 1u << axis, REDUCED_AXES_KEPT, dim);
    int z = output_add(d, x->dtype, rank, dim);
    struct reduction r = reduction_begin(d, z, x, 1u << axis, REDUCED_AXES_KEPT);
    expr entry = scalar_read(d, 0, r.index);
    stage_set_body(d, z, reduction_finish(d, &r, FN_ADD, x->dim[axis] > 7 ? scalar_mul(d, entry, entry) : entry));
    return true;
}

extern const struct operator operator_longsum;
const struct operator operator_longsum = {
    .id = OP_LONGSUM,
    .name = "longsum",
    .summary = "another function of long axes",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true}},
    .define = define_longsum,
};
