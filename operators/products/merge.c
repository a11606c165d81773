// merge: the kernel of a convolution with `group` groups as one with group / count groups: each `count` neighbouring
// groups become one, their kernels standing block-diagonally.
//     z[f, c, r...] = k[f, c - ((f / Fg) mod count) * Cg, r...]   or 0,      Fg = F / group
#include "operators/operator.h"

enum { GROUP, COUNT };

static bool define_merge(struct definition *d, const struct operator_call *call)
{
    const struct type *k = &call->inputs[0];
    int64_t group = call_int(call, GROUP), count = call_int(call, COUNT);
    if (k->rank < 3)
        return refuse(d, "merge needs a convolution kernel");
    if (group < 1 || count < 1 || group % count || k->dim[0] % group || k->dim[0] == 0)
        return refuse(d, "merge needs a count that divides the groups, and groups that divide the filters");
    if (k->dim[1] > MAX_ELEMENTS / count)
        return refuse(d, "merge makes too large a kernel");
    struct type shape = *k;
    shape.dim[1] = k->dim[1] * count;
    int z = output_add(d, k->dtype, k->rank, shape.dim);
    expr index[MAX_RANK];
    for (int i = 0; i < k->rank; i++)
        index[i] = stage_index(d, z, i);
    expr block = index_mod(d, index_div(d, index[0], k->dim[0] / group), count);
    index[1] = index_add(d, index[1], index_mul(d, block, -k->dim[1]));
    stage_set_body(d, z, scalar_read_or(d, 0, index, OUTSIDE_ZERO));
    return true;
}

const struct operator operator_merge = {
    .id = OP_MERGE,
    .name = "merge",
    .onnx = NULL,
    .summary = "kernel of a grouped convolution with neighbouring groups merged",
    .min_inputs = 1,
    .flags = OPERATOR_IS_OF_RULES | OPERATOR_KEEPS_RANK,
    .attributes = {[GROUP] = {.name = "group", .kind = ATTRIBUTE_INT, .role = ROLE_GROUPS, .is_required = true},
                   [COUNT] = {.name = "count", .kind = ATTRIBUTE_INT, .role = ROLE_MERGED_GROUPS, .is_required = true}},
    .define = define_merge,
};
