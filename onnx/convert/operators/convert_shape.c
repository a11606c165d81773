// Operators that give the same entries another shape, or another order.
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/operators/converters.h"

#define MAX_REPEATS 64   // of Tile on one axis

// A tensor in another shape; of one that only was given another shape itself, what it was made of.
static bool give_reshaped(struct conversion *c, tensor_id x, int rank, const int64_t *dim)
{
    const struct graph *g = &c->model->graph;
    tensor_id source = x;
    while (graph_producer(g, source)->op->id == OP_RESHAPE)
        source = graph_inputs(g, g->tensors.items[source].producer)[0];
    if (source != x)
        c->is_rewritten = true;
    return give(c, 0, reshape_to(c, source, rank, dim));
}

// Do entries stay in their order, as only axes of size 1 change places?
static bool keeps_order(const struct type *x, const int64_t *perm)
{
    int64_t last = -1;
    for (int i = 0; i < x->rank; i++) {
        if (perm[i] < 0 || perm[i] >= x->rank || (x->dim[perm[i]] != 1 && perm[i] < last))
            return false;
        last = x->dim[perm[i]] != 1 ? perm[i] : last;
    }
    return true;
}

bool convert_transpose(struct conversion *c)
{
    int64_t perm[MAX_RANK], dim[MAX_RANK];
    struct integers list = ints_attribute(c, "perm");
    int rank = type_of(c, input_of(c, 0))->rank;
    if (list.count && list.count != (uint32_t)rank)
        return cannot(c, "its permutation has %u entries", list.count);
    for (int i = 0; i < rank; i++)
        perm[i] = list.count ? list.items[i] : rank - 1 - i;
    const struct type *x = type_of(c, input_of(c, 0));
    if (ALL(int, i, rank, perm[i] == i) || !keeps_order(x, perm))
        return give(c, 0, transpose_by(c, input_of(c, 0), perm));
    for (int i = 0; i < rank; i++)
        dim[i] = x->dim[perm[i]];
    c->is_rewritten = true;
    return give_reshaped(c, input_of(c, 0), rank, dim);
}

// ---- shapes ----

// 0 keeps a dimension (unless zeros are allowed), -1 is what is left.
static bool resolve_shape(struct conversion *c, const struct type *x, struct integers sizes, int64_t *ret_dim)
{
    int64_t known = 1;
    int inferred = -1;
    for (uint32_t i = 0; i < sizes.count; i++) {
        ret_dim[i] = sizes.items[i];
        if (ret_dim[i] == 0 && !int_attribute(c, "allowzero", 0)) {
            if (i >= (uint32_t)x->rank)
                return cannot(c, "it keeps a dimension that is not there");
            ret_dim[i] = x->dim[i];
        }
        if (sizes.items[i] == -1 && inferred < 0)
            inferred = (int)i;
        else if (ret_dim[i] < 0 || ret_dim[i] > MAX_ELEMENTS || __builtin_mul_overflow(known, ret_dim[i], &known))
            return cannot(c, "it has an impossible dimension");
    }
    c->is_unfit |= known > 0 && (inferred < 0 ? type_elements(x) != known : type_elements(x) % known != 0);
    if (inferred >= 0 && (known == 0 || type_elements(x) % known))
        return cannot(c, "its unknown dimension has no size");
    if (inferred >= 0)
        ret_dim[inferred] = type_elements(x) / known;
    return true;
}

bool convert_reshape(struct conversion *c)
{
    struct integers sizes;
    int64_t dim[MAX_RANK];
    return constant_ints(c, input_of(c, 1), MAX_RANK, &sizes) &&
           resolve_shape(c, type_of(c, input_of(c, 0)), sizes, dim) &&
           give_reshaped(c, input_of(c, 0), (int)sizes.count, dim);
}

bool convert_flatten(struct conversion *c)
{
    struct type x = *type_of(c, input_of(c, 0));
    int64_t axis = int_attribute(c, "axis", 1);
    if (axis < -x.rank || axis > x.rank)
        return cannot(c, "there is no axis %lld", (long long)axis);
    int place = (int)(axis < 0 ? axis + x.rank : axis);
    int64_t dim[2] = {entries_between(&x, 0, place), entries_between(&x, place, x.rank)};
    return give_reshaped(c, input_of(c, 0), 2, dim);
}

bool convert_squeeze(struct conversion *c)
{
    struct integers axes;
    uint32_t dropped;
    int64_t dim[MAX_RANK];
    int rank = 0;
    if (!list_of(c, "axes", 1, &axes))
        return false;
    if (axes.items && axes.count == 0)
        return cannot(c, "its list of axes is empty: to the standard none, to runtimes all");
    struct type x = *type_of(c, input_of(c, 0));
    if (!set_of_axes(c, axes, x.rank, &dropped))
        return false;
    for (int i = 0; i < x.rank; i++) {
        if (!axes.items && axis_varies(c, input_of(c, 0), i))
            return cannot(c, "it drops an axis of any size where that is one");
        bool drops = axes.items ? (dropped >> i & 1) : x.dim[i] == 1;
        if (drops && x.dim[i] != 1)
            return cannot(c, "it drops an axis of size %lld", (long long)x.dim[i]);
        if (!drops)
            dim[rank++] = x.dim[i];
    }
    return give_reshaped(c, input_of(c, 0), rank, dim);
}

bool convert_unsqueeze(struct conversion *c)
{
    struct integers axes;
    uint32_t new;
    int64_t dim[MAX_RANK];
    if (!list_of(c, "axes", 1, &axes))
        return false;
    struct type x = *type_of(c, input_of(c, 0));
    int rank = x.rank + (int)axes.count, next = 0;
    if (rank > MAX_RANK)
        return cannot(c, "it makes a tensor of rank %d", rank);
    if (!set_of_axes(c, axes, rank, &new) || (uint32_t)__builtin_popcount(new) != axes.count)
        return cannot(c, "it adds an axis twice");
    for (int i = 0; i < rank; i++)
        dim[i] = (new >> i & 1) ? 1 : x.dim[next++];
    return give_reshaped(c, input_of(c, 0), rank, dim);
}

bool convert_expand(struct conversion *c)
{
    struct integers sizes;
    if (!constant_ints(c, input_of(c, 1), MAX_RANK, &sizes))
        return false;
    if (ANY(uint32_t, i, sizes.count, sizes.items[i] < 0 || sizes.items[i] > MAX_ELEMENTS))
        return cannot(c, "it has an impossible dimension");
    struct type wanted = type_make(DTYPE_F32, (int)sizes.count, sizes.items);
    return common_shape(c, type_of(c, input_of(c, 0)), &wanted, &wanted) &&
           give(c, 0, broadcast_to(c, input_of(c, 0), wanted.rank, wanted.dim));
}

static tensor_id repeat_on_axis(struct conversion *c, tensor_id x, int axis, int64_t times)
{
    tensor_id copies[MAX_REPEATS];
    for (int64_t i = 0; i < times; i++)
        copies[i] = x;
    return apply(c, OP_CONCAT, (size_t)times, copies, WITH(integer("axis", axis)));
}

bool convert_tile(struct conversion *c)
{
    struct integers repeats;
    if (!constant_ints(c, input_of(c, 1), MAX_RANK, &repeats))
        return false;
    tensor_id z = input_of(c, 0);
    if (repeats.count != (uint32_t)type_of(c, z)->rank)
        return cannot(c, "its repeats are not as many as axes");
    for (uint32_t i = 0; i < repeats.count; i++) {
        int64_t times = repeats.items[i];
        if (times < 1 || times > MAX_REPEATS)
            return cannot(c, "it repeats an axis %lld times", (long long)times);
        if (times > 1 && z != NO_TENSOR)
            z = repeat_on_axis(c, z, (int)i, times);
    }
    return give(c, 0, z);
}

// ---- blocks of an image ----

#define MAX_BLOCK 128   // times its square, no size overflows

// Channels (block, block, C) or (C, block, block) spread over places, or back.
bool convert_depth_to_space(struct conversion *c)
{
    int64_t b = int_attribute(c, "blocksize", 0);
    struct type x = *type_of(c, input_of(c, 0));
    if (x.rank != 4 || b < 1 || b > MAX_BLOCK || x.dim[1] % (b * b))
        return cannot(c, "its blocks do not fit");
    int64_t n = x.dim[0], k = x.dim[1] / (b * b), h = x.dim[2], w = x.dim[3];
    bool is_depth_first = text_attribute_is(c, "mode", "DCR", "DCR");
    tensor_id t = is_depth_first ? reshape_to(c, input_of(c, 0), 6, (int64_t[]){n, b, b, k, h, w})
                                 : reshape_to(c, input_of(c, 0), 6, (int64_t[]){n, k, b, b, h, w});
    t = is_depth_first ? transpose_by(c, t, (int64_t[]){0, 3, 4, 1, 5, 2})
                       : transpose_by(c, t, (int64_t[]){0, 1, 4, 2, 5, 3});
    return give(c, 0, reshape_to(c, t, 4, (int64_t[]){n, k, h * b, w * b}));
}

bool convert_space_to_depth(struct conversion *c)
{
    int64_t b = int_attribute(c, "blocksize", 0);
    struct type x = *type_of(c, input_of(c, 0));
    if (x.rank != 4 || b < 1 || b > MAX_BLOCK || x.dim[2] % b || x.dim[3] % b)
        return cannot(c, "its blocks do not fit");
    int64_t n = x.dim[0], k = x.dim[1], h = x.dim[2] / b, w = x.dim[3] / b;
    tensor_id t = reshape_to(c, input_of(c, 0), 6, (int64_t[]){n, k, h, b, w, b});
    t = transpose_by(c, t, (int64_t[]){0, 3, 5, 1, 2, 4});
    return give(c, 0, reshape_to(c, t, 4, (int64_t[]){n, k * b * b, h, w}));
}
