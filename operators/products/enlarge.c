// enlarge: a kernel put into the middle of a larger one, 0 around it. With pads that grow likewise, a convolution stays
// the same.
//     z[f,c,r,s] = k[f, c, r - l, s - l']   or 0,   l = (R' - R) / 2
// Sizes must grow by an even amount on each axis, so that the middle is one place.
#include "operators/operator.h"

enum { KERNEL };

static bool define_enlarge(struct definition *d, const struct operator_call *call)
{
    const struct type *k = &call->inputs[0];
    const struct attribute_value *kernel = &call->attributes[KERNEL];
    if (k->rank < 3 || kernel->count != (uint32_t)k->rank - 2)
        return refuse(d, "enlarge needs a kernel of rank 3 or more and a size for each spatial axis");
    struct type shape = *k;
    for (int a = 0; a < k->rank - 2; a++) {
        if (kernel->ints[a] < k->dim[2 + a] || (kernel->ints[a] - k->dim[2 + a]) % 2)
            return refuse(d, "enlarge must grow each axis by an even amount");
        shape.dim[2 + a] = kernel->ints[a];
    }
    int z = output_add(d, k->dtype, k->rank, shape.dim);
    expr index[MAX_RANK];
    for (int i = 0; i < k->rank; i++)
        index[i] =
            i < 2 ? stage_index(d, z, i) : index_offset(d, stage_index(d, z, i), -(shape.dim[i] - k->dim[i]) / 2);
    stage_set_body(d, z, scalar_read_or(d, 0, index, OUTSIDE_ZERO));
    return true;
}

const struct operator operator_enlarge = {
    .id = OP_ENLARGE,
    .name = "enlarge",
    .onnx = NULL,
    .summary = "kernel padded with zeros to a larger kernel",
    .min_inputs = 1,
    .flags = OPERATOR_IS_OF_RULES | OPERATOR_KEEPS_RANK,
    .attributes = {[KERNEL] = {.name = "kernel", .kind = ATTRIBUTE_INTS, .role = ROLE_KERNEL, .is_required = true}},
    .define = define_enlarge,
};
