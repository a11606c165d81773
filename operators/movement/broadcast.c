// broadcast: a tensor repeated along axes of size 1 and along new leading axes (numpy's rule, aligned at the last
// axis).
//     z[..., i, j] = x[..., i, 0]   where x has size 1 on the last axis and z does not
#include "operators/operator.h"

enum { SHAPE };

static bool define_broadcast(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (shape->count > MAX_RANK || shape->count < (uint32_t)x->rank)
        return refuse(d, "broadcast needs a shape of rank %d to %d", x->rank, MAX_RANK);
    int rank = (int)shape->count, added = rank - x->rank;
    for (int i = 0; i < rank; i++)
        if (shape->ints[i] < 0)
            return refuse(d, "broadcast to a negative dimension");
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] != 1 && x->dim[i] != shape->ints[added + i])
            return refuse(d, "broadcast repeats only axes of size 1");
    int z = output_add(d, x->dtype, rank, shape->ints);
    expr index[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        index[i] = x->dim[i] == 1 && shape->ints[added + i] != 1 ? index_integer(d, 0) : stage_index(d, z, added + i);
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

const struct operator operator_broadcast = {
    .id = OP_BROADCAST,
    .name = "broadcast",
    .onnx = "Expand",
    .summary = "a tensor repeated along axes of size 1",
    .min_inputs = 1,
    .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE}},
    .define = define_broadcast,
};
