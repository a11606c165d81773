// split: a tensor cut into consecutive parts on one axis; output i is part i.
//     z_i[...,j,...] = x[..., offset_i + j, ...]
// Without sizes there are two parts, cut where the axis' split tree says that it was concatenated (TASO paper, Section
// 2.1); a tensor without such a tree cannot be split so. (split0 axis x) and (split1 axis x) are its two outputs.
#include "core/memory/arena.h"
#include "operators/operator.h"

enum { AXIS, SIZES };

static bool part_sizes(struct definition *d, const struct operator_call *call, int64_t axis, int64_t *ret_sizes,
                       int *ret_count)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *sizes = &call->attributes[SIZES];
    if (sizes->count == 0) {
        const struct split_tree *tree = x->split[axis];
        if (!tree || tree == SPLIT_ANY)
            return refuse(d, "axis %lld is not known to be a concatenation", (long long)axis);
        ret_sizes[0] = tree->left_size;
        ret_sizes[1] = x->dim[axis] - tree->left_size;
        *ret_count = 2;
        return true;
    }
    if (sizes->count > MAX_OUTPUTS)
        return refuse(d, "more than %d parts", MAX_OUTPUTS);
    int64_t left = x->dim[axis];
    for (uint32_t i = 0; i < sizes->count; i++) {
        if (sizes->ints[i] < 0 || sizes->ints[i] > left)
            return refuse(d, "the parts do not add up to the axis");
        left -= ret_sizes[i] = sizes->ints[i];
    }
    if (left != 0)
        return refuse(d, "the parts do not add up to the axis");
    *ret_count = (int)sizes->count;
    return true;
}

// The tree of each part: known when the cuts are exactly the tree's.
static const struct split_tree *tree_of_part(const struct split_tree *tree, const int64_t *sizes, int count, int part)
{
    if (tree == SPLIT_ANY)
        return tree;
    for (int i = 0; i < count - 1; i++) {
        if (!tree || tree->left_size != sizes[i])
            return NULL;
        if (i == part)
            return tree->left;
        tree = tree->right;
    }
    return tree;
}

static bool define_split(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS), sizes[MAX_OUTPUTS], offset = 0;
    int count = 0;
    if (axis < 0 || axis >= x->rank)
        return refuse(d, "split has no axis %lld", (long long)axis);
    if (!part_sizes(d, call, axis, sizes, &count))
        return false;
    for (int part = 0; part < count; part++) {
        struct type shape = *x;
        shape.dim[axis] = sizes[part];
        int z = output_add(d, shape.dtype, shape.rank, shape.dim);
        expr index[MAX_RANK];
        for (int i = 0; i < x->rank; i++)
            index[i] = stage_index(d, z, i);
        index[axis] = index_offset(d, index[axis], offset);
        stage_set_body(d, z, scalar_read(d, 0, index));
        stage_type(d, z)->split[axis] = tree_of_part(x->split[axis], sizes, count, part);
        offset += sizes[part];
    }
    return true;
}

static void resolve_sizes(struct definition *d, const struct operator_call *call,
                          struct attribute_value *ret_attributes)
{
    int64_t axis = call_int(call, AXIS);
    int64_t *sizes = arena_array(d->arena, int64_t, d->n_outputs);
    for (int i = 0; i < d->n_outputs; i++)
        sizes[i] = definition_output(d, i)->dim[axis];
    ret_attributes[SIZES] = (struct attribute_value){(uint32_t)d->n_outputs, sizes};
}

const struct operator operator_split = {
    .id = OP_SPLIT,
    .name = "split",
    .onnx = "Split",
    .summary = "consecutive parts on one axis, by sizes or by the split tree",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},
                   [SIZES] = {.name = "sizes", .kind = ATTRIBUTE_INTS, .role = ROLE_PART_SIZES}},
    .define = define_split,
    .resolve = resolve_sizes,
};
