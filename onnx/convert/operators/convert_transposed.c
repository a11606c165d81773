// ConvTranspose as a convolution: zeros between the image's entries (stride), wide pads, and the kernel turned around
// with its input and output channels exchanged. Where windows neither overlap nor leave gaps each entry becomes a
// block, by a convolution of 1x1 without any zeros.
#include "onnx/convert/operators/convert_conv_pool.h"
#include "onnx/convert/operators/converters.h"

struct transposed {
    int n;                                                     // spatial axes, at most 3
    int64_t group, stride[3], dilation[3], begin[3], end[3];   // pads of the convolution
};

static bool read_list(struct conversion *c, const char *name, int n, int64_t standard, int64_t *ret_items)
{
    return list_within(c, name, n, standard, 0, 1 << 20, ret_items);
}

// The pads of the transposed convolution, which cut its result.
static bool read_cuts(struct conversion *c, const struct type *x, const struct type *k, const struct transposed *t,
                      const int64_t *extra, int64_t *ret_cuts)
{
    int64_t wanted[3];
    bool is_upper = text_attribute_is(c, "auto_pad", "SAME_UPPER", "NOTSET");
    bool is_same = is_upper || text_attribute_is(c, "auto_pad", "SAME_LOWER", "NOTSET");
    if (!is_same && !has_attribute(c, "output_shape"))
        return read_list(c, "pads", 2 * t->n, 0, ret_cuts);
    if (has_attribute(c, "output_shape") && !read_list(c, "output_shape", t->n, 0, wanted))
        return false;
    for (int a = 0; a < t->n; a++) {
        int64_t whole = t->stride[a] * (x->dim[2 + a] - 1) + extra[a] + (k->dim[2 + a] - 1) * t->dilation[a] + 1;
        int64_t total = whole - (has_attribute(c, "output_shape") ? wanted[a] : x->dim[2 + a] * t->stride[a]);
        if (total < 0)
            return cannot(c, "its result is larger than what it computes");
        ret_cuts[a] = is_upper ? total / 2 : total - total / 2;
        ret_cuts[t->n + a] = total - ret_cuts[a];
    }
    return true;
}

static bool read_transposed(struct conversion *c, const struct type *x, const struct type *k, struct transposed *ret)
{
    struct transposed t = {.n = x->rank - 2, .group = int_attribute(c, "group", 1)};
    int64_t extra[3], cuts[6];
    if (x->rank < 3 || x->rank > 5 || k->rank != x->rank)
        return cannot(c, "its image has rank %d", x->rank);
    if (t.group < 1 || x->dim[1] % t.group || k->dim[0] != x->dim[1])
        return cannot(c, "its channels do not fit its groups");
    if (!read_list(c, "strides", t.n, 1, t.stride) || !read_list(c, "dilations", t.n, 1, t.dilation) ||
        !read_list(c, "output_padding", t.n, 0, extra) || !read_cuts(c, x, k, &t, extra, cuts))
        return false;
    for (int a = 0; a < t.n; a++) {
        int64_t reach = (k->dim[2 + a] - 1) * t.dilation[a];
        if (t.stride[a] < 1 || t.dilation[a] < 1 || k->dim[2 + a] < 1 || x->dim[2 + a] < 1)
            return cannot(c, "a size or stride is out of range");
        t.begin[a] = reach - cuts[a];
        t.end[a] = reach - cuts[t.n + a] + extra[a];
    }
    *ret = t;
    return true;
}

static tensor_id pad_with_zeros(struct conversion *c, tensor_id x, const int64_t *pads)
{
    return apply(c, OP_PAD, INPUTS(x), WITH(list("pads", 2 * type_of(c, x)->rank, pads)));
}

// stride - 1 zeros after each entry but the last: an axis (d) becomes (d, 1), (d, s), (d * s), and loses its end.
static tensor_id spread_entries(struct conversion *c, tensor_id x, const struct transposed *t)
{
    struct type type = *type_of(c, x);
    int64_t split[MAX_RANK] = {type.dim[0], type.dim[1]}, merged[MAX_RANK] = {type.dim[0], type.dim[1]};
    int64_t within[2 * MAX_RANK] = {0}, behind[2 * MAX_RANK] = {0};
    int rank = 2 + 2 * t->n;
    bool spreads = false;
    for (int a = 0; a < t->n; a++) {
        split[2 + 2 * a] = type.dim[2 + a];
        split[3 + 2 * a] = 1;
        merged[2 + a] = type.dim[2 + a] * t->stride[a];
        within[rank + 3 + 2 * a] = t->stride[a] - 1;
        behind[type.rank + 2 + a] = 1 - t->stride[a];
        spreads |= t->stride[a] > 1;
    }
    if (!spreads)
        return x;
    x = pad_with_zeros(c, reshape_to(c, x, rank, split), within);
    return pad_with_zeros(c, reshape_to(c, x, type.rank, merged), behind);
}

static tensor_id turned_around(struct conversion *c, tensor_id k, const struct transposed *t)
{
    struct type type = *type_of(c, k);
    int64_t start[MAX_RANK] = {0}, step[MAX_RANK] = {1, 1};
    for (int a = 0; a < t->n; a++) {
        start[2 + a] = type.dim[2 + a] - 1;
        step[2 + a] = -1;
    }
    return apply(
        c, OP_SLICE, INPUTS(k),
        WITH(list("start", type.rank, start), list("size", type.rank, type.dim), list("step", type.rank, step)));
}

// (G * C, F, ...) to (G * F, C, ...)
static tensor_id with_channels_exchanged(struct conversion *c, tensor_id k, const struct transposed *t)
{
    struct type type = *type_of(c, k);
    int64_t split[MAX_RANK] = {t->group, type.dim[0] / t->group, type.dim[1]};
    int64_t merged[MAX_RANK] = {t->group * type.dim[1], type.dim[0] / t->group};
    int64_t perm[MAX_RANK] = {0, 2, 1};
    for (int a = 0; a < t->n; a++) {
        split[3 + a] = merged[2 + a] = type.dim[2 + a];
        perm[3 + a] = 3 + a;
    }
    k = transpose_by(c, reshape_to(c, k, type.rank + 1, split), perm);
    return reshape_to(c, k, type.rank, merged);
}

// Pads below zero, where more is cut than the kernel reaches, are a step of their own.
static tensor_id cut_where_negative(struct conversion *c, tensor_id x, struct transposed *t)
{
    int64_t pads[2 * MAX_RANK] = {0};
    bool cuts = false;
    for (int a = 0; a < t->n; a++) {
        int64_t *sides[2] = {&t->begin[a], &t->end[a]};
        for (int side = 0; side < 2; side++)
            if (*sides[side] < 0) {
                pads[(t->n + 2) * side + 2 + a] = *sides[side];
                *sides[side] = 0;
                cuts = true;
            }
    }
    return cuts ? pad_with_zeros(c, x, pads) : x;
}

static bool makes_blocks(const struct type *k, const struct transposed *t)
{
    bool makes = t->group == 1;
    for (int a = 0; a < t->n; a++) {
        int64_t reach = (k->dim[2 + a] - 1) * t->dilation[a];
        makes =
            makes && t->dilation[a] == 1 && t->stride[a] == k->dim[2 + a] && t->begin[a] == reach && t->end[a] == reach;
    }
    return makes;
}

// (C, F, s...) to (s... * F, C, 1...)
static tensor_id kernel_of_blocks(struct conversion *c, tensor_id k, const struct transposed *t)
{
    struct type type = *type_of(c, k);
    int64_t perm[MAX_RANK], merged[MAX_RANK] = {type.dim[1], type.dim[0]};
    for (int a = 0; a < t->n; a++) {
        perm[a] = 2 + a;
        merged[0] *= t->stride[a];
        merged[2 + a] = 1;
    }
    perm[t->n] = 1;
    perm[t->n + 1] = 0;
    return reshape_to(c, transpose_by(c, k, perm), type.rank, merged);
}

// (N, s... * F, d...) to (N, F, d * s...)
static tensor_id spread_blocks(struct conversion *c, tensor_id z, const struct type *k, const struct transposed *t)
{
    struct type type = *type_of(c, z);
    int64_t split[MAX_RANK] = {type.dim[0]}, perm[MAX_RANK] = {0, 1 + t->n};
    int64_t merged[MAX_RANK] = {type.dim[0], k->dim[1]};
    split[1 + t->n] = k->dim[1];
    for (int a = 0; a < t->n; a++) {
        split[1 + a] = t->stride[a];
        split[2 + t->n + a] = type.dim[2 + a];
        perm[2 + 2 * a] = 2 + t->n + a;
        perm[3 + 2 * a] = 1 + a;
        merged[2 + a] = type.dim[2 + a] * t->stride[a];
    }
    return reshape_to(c, transpose_by(c, reshape_to(c, z, 2 + 2 * t->n, split), perm), type.rank, merged);
}

bool convert_conv_transpose(struct conversion *c)
{
    struct transposed t;
    struct type x = *type_of(c, input_of(c, 0)), k = *type_of(c, input_of(c, 1));
    if (!read_transposed(c, &x, &k, &t))
        return false;
    int64_t pads[6], ones[3] = {1, 1, 1};
    if (makes_blocks(&k, &t)) {
        int64_t none[6] = {0};
        tensor_id blocks =
            convolve_at(c, t.n, ones, none, ones, input_of(c, 0), kernel_of_blocks(c, input_of(c, 1), &t));
        return give(c, 0, add_to_channels(c, spread_blocks(c, blocks, &k, &t), input_of(c, 2)));
    }
    tensor_id image = cut_where_negative(c, spread_entries(c, input_of(c, 0), &t), &t);
    tensor_id kernel = with_channels_exchanged(c, turned_around(c, input_of(c, 1), &t), &t);
    for (int a = 0; a < t.n; a++) {
        pads[a] = t.begin[a];
        pads[t.n + a] = t.end[a];
    }
    tensor_id z = convolve_at(c, t.n, ones, pads, t.dilation, image, kernel);
    return give(c, 0, add_to_channels(c, z, input_of(c, 2)));
}
