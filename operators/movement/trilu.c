// trilu: the upper or lower triangle of matrices, 0 elsewhere; the diagonal that bounds it is the k-th above the main.
//     upper  z[...,i,j] = x[...,i,j] if j - i >= k, else 0        lower  if j - i <= k
#include "operators/operator.h"

enum { PART, DIAGONAL };
enum { PART_UPPER, PART_LOWER };
static const char *const part_names[] = {"upper", "lower", NULL};

static bool define_trilu(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t k = call_int(call, DIAGONAL);
    if (x->rank < 2)
        return refuse(d, "trilu needs matrices");
    k = k > MAX_ELEMENTS ? MAX_ELEMENTS : k < -MAX_ELEMENTS ? -MAX_ELEMENTS : k;
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr i = stage_index(d, z, x->rank - 2), j = stage_index(d, z, x->rank - 1);
    expr above = index_offset(d, index_add(d, j, index_mul(d, i, -1)), -k);
    if (call_int(call, PART) == PART_LOWER)
        above = index_mul(d, above, -1);
    stage_set_body(d, z, scalar_select(d, above, scalar_read_same(d, 0, z), scalar_real(d, 0)));
    return true;
}

const struct operator operator_trilu = {
    .id = OP_TRILU,
    .name = "trilu",
    .onnx = "Trilu",
    .summary = "the upper or lower triangle of matrices",
    .min_inputs = 1,
    .attributes = {[PART] = {.name = "part", .kind = ATTRIBUTE_CHOICE, .choices = part_names},
                   [DIAGONAL] = {.name = "k", .kind = ATTRIBUTE_INT}},
    .define = define_trilu,
};
