// gather and gatherelements: entries chosen on one axis by a tensor of indices. Negative indices count from the end:
// indices are taken modulo the axis' size, which also makes every tensor of integers a valid one.
//     gather          z[a..., i..., b...] = x[a..., indices[i...], b...]
//     gatherelements  z[a..., i, b...]    = x[a..., indices[a..., i, b...], b...]
#include "operators/operator.h"

enum { AXIS };

static bool have_index_types(struct definition *d, const struct operator_call *call, int64_t axis)
{
    const struct type *x = &call->inputs[0], *indices = &call->inputs[1];
    if (!dtype_is_integer(indices->dtype))
        return refuse(d, "%s needs integer indices", call->op->name);
    if (axis < 0 || axis >= x->rank)
        return refuse(d, "%s has no axis %lld", call->op->name, (long long)axis);
    return !(x->dim[axis] == 0 && type_elements(indices) != 0) ||
           refuse(d, "%s from an axis without entries", call->op->name);
}

static expr chosen_place(struct definition *d, const expr *at, int64_t size)
{
    return index_mod(d, index_of(d, scalar_read(d, 1, at)), size > 0 ? size : 1);
}

static bool define_gather(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *indices = &call->inputs[1];
    int64_t axis = call_int(call, AXIS), dim[2 * MAX_RANK];
    if (!have_index_types(d, call, axis))
        return false;
    int rank = x->rank - 1 + indices->rank, n = 0;
    if (rank > MAX_RANK)
        return refuse(d, "gather makes more than %d dimensions", MAX_RANK);
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dim[n++] = x->dim[i];
        else
            for (int j = 0; j < indices->rank; j++)
                dim[n++] = indices->dim[j];
    int z = output_add(d, x->dtype, rank, dim);
    expr at[MAX_RANK], index[MAX_RANK];
    for (int j = 0; j < indices->rank; j++)
        at[j] = stage_index(d, z, (int)axis + j);
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            index[i] = stage_index(d, z, i < axis ? i : i - 1 + indices->rank);
    index[axis] = chosen_place(d, at, x->dim[axis]);
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

static bool define_gatherelements(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *indices = &call->inputs[1];
    int64_t axis = call_int(call, AXIS);
    if (!have_index_types(d, call, axis))
        return false;
    if (indices->rank != x->rank)
        return refuse(d, "gatherelements needs indices of the rank of what they choose from");
    for (int i = 0; i < x->rank; i++)
        if (i != axis && indices->dim[i] > x->dim[i])
            return refuse(d, "gatherelements leaves the tensor on axis %d", i);
    int z = output_add(d, x->dtype, x->rank, indices->dim);
    expr at[MAX_RANK], index[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        index[i] = at[i] = stage_index(d, z, i);
    index[axis] = chosen_place(d, at, x->dim[axis]);
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

#define GATHER_OPERATOR(enumerator, label, onnx_name, text)                                                            \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 2,                                                                                               \
        .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS}},                           \
        .define = define_##label,                                                                                      \
    };
GATHER_OPERATOR(GATHER, gather, "Gather", "x, indices: slices of an axis chosen by indices")
GATHER_OPERATOR(GATHERELEMENTS, gatherelements, "GatherElements", "x, indices: entries along an axis, one by one")
