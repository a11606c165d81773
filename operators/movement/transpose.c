// transpose: axes in another order: z's axis i is x's axis perm[i]. The split trees follow their axes.
//     z[i0, i1, ...] = x[...] with x's index on axis perm[i] being z's on axis i
#include "operators/operator.h"

enum { PERM };

static bool is_permutation(const struct attribute_value *perm, int rank)
{
    bool seen[MAX_RANK] = {0};
    if (perm->count != (uint32_t)rank)
        return false;
    for (int i = 0; i < rank; i++) {
        if (perm->ints[i] < 0 || perm->ints[i] >= rank || seen[perm->ints[i]])
            return false;
        seen[perm->ints[i]] = true;
    }
    return true;
}

static bool define_transpose(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *perm = &call->attributes[PERM];
    if (!is_permutation(perm, x->rank))
        return refuse(d, "transpose needs a permutation of %d axes", x->rank);
    int64_t dim[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[perm->ints[i]];
    int z = output_add(d, x->dtype, x->rank, dim);
    expr index[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        index[perm->ints[i]] = stage_index(d, z, i);
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

const struct operator operator_transpose = {
    .id = OP_TRANSPOSE,
    .name = "transpose",
    .onnx = "Transpose",
    .summary = "axes in another order",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[PERM] = {.name = "perm", .kind = ATTRIBUTE_INTS, .role = ROLE_PERMUTATION, .is_required = true}},
    .define = define_transpose,
};
