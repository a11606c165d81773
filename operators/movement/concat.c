// concat: tensors one behind the other on one axis.
//     z[...,i,...] = x0[...,i,...] if i < X0 else x1[...,i - X0,...] if i < X0 + X1 else ...
// The axis gets the split tree that records this: (x0 | (x1 | (x2 | ...))), each with its own tree.
#include "core/memory/hash.h"
#include "operators/operator.h"

enum { AXIS };

#define MOST_PARTS 1024   // definitions are nested as deeply as there are parts

static bool have_matching_types(struct definition *d, const struct operator_call *call, int64_t axis)
{
    const struct type *first = &call->inputs[0];
    if (axis < 0 || axis >= first->rank)
        return refuse(d, "concat has no axis %lld", (long long)axis);
    if (call->n_inputs > MOST_PARTS)
        return refuse(d, "concat of more than %d tensors", MOST_PARTS);
    int64_t size = 0;
    for (int i = 0; i < call->n_inputs; i++) {
        struct type other = call->inputs[i];
        if (other.rank == first->rank)
            other.dim[axis] = first->dim[axis];
        if (!type_equal(first, &other))
            return refuse(d, "concat needs tensors that differ only on axis %lld", (long long)axis);
        size += call->inputs[i].dim[axis];
        if (size > MAX_ELEMENTS)
            return refuse(d, "concat makes too large an axis");
    }
    return true;
}

static uint64_t sizes_of_other_axes(const struct operator_call *call, int input)
{
    const struct type *t = &call->inputs[input];
    uint64_t sizes = (uint64_t)t->rank;
    for (int i = 0; i < t->rank; i++)
        sizes = i == call_int(call, AXIS) ? sizes : hash_mix(sizes, (uint64_t)t->dim[i]);
    return sizes;
}

static expr read_at_offset(struct definition *d, int input, int z, int64_t axis, int64_t offset)
{
    expr index[MAX_RANK];
    for (int i = 0; i < d->inputs[input].rank; i++)
        index[i] = stage_index(d, z, i);
    index[axis] = index_offset(d, index[axis], -offset);
    return scalar_read(d, input, index);
}

static bool define_concat(struct definition *d, const struct operator_call *call)
{
    int64_t axis = call_int(call, AXIS);
    if (!have_matching_types(d, call, axis))
        return false;
    struct type shape = call->inputs[0];
    int64_t size = SUM_ALL(int64_t, int, i, call->n_inputs, call->inputs[i].dim[axis]);
    shape.dim[axis] = size;
    int z = output_add(d, shape.dtype, shape.rank, shape.dim);

    int last = call->n_inputs - 1;
    int64_t offset = size - call->inputs[last].dim[axis];
    expr body = read_at_offset(d, last, z, axis, offset);
    const struct split_tree *tree = call->inputs[last].split[axis];
    for (int i = last - 1; i >= 0; i--) {
        expr beyond = index_offset(d, stage_index(d, z, (int)axis), -offset);
        offset -= call->inputs[i].dim[axis];
        body = scalar_select(d, beyond, body, read_at_offset(d, i, z, axis, offset));
        tree = split_tree_join(d->arena, call->inputs[i].dim[axis], call->inputs[i].split[axis], tree);
    }
    stage_set_body(d, z, body);
    stage_type(d, z)->split[axis] = tree;
    return true;
}

const struct operator operator_concat = {
    .id = OP_CONCAT,
    .name = "concat",
    .onnx = "Concat",
    .summary = "tensors one behind the other on one axis",
    .min_inputs = 1,
    .max_inputs = VARIADIC,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true}},
    .define = define_concat,
    .agreement = sizes_of_other_axes,
};
