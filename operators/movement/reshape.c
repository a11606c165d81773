// reshape: the same entries in row-major order under another shape.
//     x's index on axis a = (z's linear index / stride of a) mod size of a
// The axes fall into the smallest groups of equal products, each indexed by itself: (6,4,5) to (2,3,20) has the groups
// 6 = 2*3 and 4*5 = 20. An axis that stays is a group of its own, indexed directly, so that its split tree and any
// proof about it carry over.
#include "operators/operator.h"

enum { SHAPE };

// Axes of x and of z that hold the same entries: x's from .. to, z's first .. last (ends excluded).
struct group {
    int from, to, first, last;
};

// The next group of axes with equal products, from x's axis `to` and z's axis `last` on; the smallest one, with axes of
// size 1 apart from others.
static bool next_group(const struct type *x, const struct type *z, struct group *g)
{
    *g = (struct group){g->to, g->to, g->last, g->last};
    bool has_x = g->to < x->rank, has_z = g->last < z->rank;
    if (!has_x && !has_z)
        return false;
    bool is_pair = has_x && has_z && x->dim[g->to] == z->dim[g->last];
    if (!is_pair && has_x && (x->dim[g->to] == 1 || !has_z))
        g->to++;
    else if (!is_pair && has_z && (z->dim[g->last] == 1 || !has_x))
        g->last++;
    else {
        int64_t of_x = x->dim[g->to++], of_z = z->dim[g->last++];
        while (of_x != of_z && (g->to < x->rank || g->last < z->rank))
            if (g->last == z->rank || (of_x < of_z && g->to < x->rank))
                of_x *= x->dim[g->to++];
            else
                of_z *= z->dim[g->last++];
    }
    return true;
}

// The row-major index over z's axes of the group.
static expr linear_index(struct definition *d, int z, const struct group *g)
{
    expr linear = index_integer(d, 0);
    for (int i = g->first; i < g->last; i++) {
        int64_t size = definition_tensor(d, z)->dim[i];
        if (size != 1 || g->last - g->first == 1)
            linear = index_add(d, index_mul(d, linear, size), stage_index(d, z, i));
    }
    return linear;
}

static void index_group(struct definition *d, int z, const struct group *g, expr *index)
{
    const struct type *x = &d->inputs[0];
    expr linear = linear_index(d, z, g);
    int64_t stride = 1;
    for (int i = g->to - 1; i >= g->from; i--) {
        int64_t size = x->dim[i] > 0 ? x->dim[i] : 1;
        index[i] = index_div(d, linear, stride);
        if (i > g->from)
            index[i] = index_mod(d, index[i], size);
        stride *= size;
    }
}

static expr body_of_reshape(struct definition *d, int z)
{
    const struct type *x = &d->inputs[0];
    expr index[MAX_RANK];
    struct group g = {0};
    while (next_group(x, definition_tensor(d, z), &g))
        index_group(d, z, &g, index);
    return scalar_read(d, 0, index);
}

static bool define_reshape(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (shape->count > MAX_RANK)
        return refuse(d, "more than %d dimensions", MAX_RANK);
    int rank = (int)shape->count;
    struct type t = type_make(x->dtype, rank, shape->ints);
    if (!type_has_allowed_size(&t))
        return refuse(d, "reshape to an impossible shape");
    if (type_elements(&t) != type_elements(x))
        return refuse(d, "reshape must keep the number of entries");
    int z = output_add(d, x->dtype, rank, shape->ints);
    stage_set_body(d, z, body_of_reshape(d, z));
    return true;
}

const struct operator operator_reshape = {
    .id = OP_RESHAPE,
    .name = "reshape",
    .onnx = "Reshape, Flatten, Squeeze, Unsqueeze",
    .summary = "the same entries under another shape",
    .min_inputs = 1,
    .flags = OPERATOR_IS_VIEW,
    .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE}},
    .define = define_reshape,
};
