// Results whose sizes are constants or attributes: what is cut, padded, resized, gathered, transformed, or made of
// nothing.
#include "core/numbers/integers.h"
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/read_node.h"

static void top_k(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t k;
    int axis;
    if (!constant_size(c, 1, &k) || !normalize_axis(c, int_attribute(c, "axis", -1), x->rank, &axis))
        return;
    struct type z = without_splits(x);
    z.dim[axis] = k;
    set_type(c, types, 0, z);
    z.dtype = DTYPE_I64;
    set_type(c, types, 1, z);
}

static void scale_all(struct conversion *c, const struct type *x, struct type *types, uint32_t input)
{
    const double *scales;
    uint32_t count;
    int places[MAX_RANK];
    if (!constant_reals(c, input_of(c, input), MAX_RANK, &scales, &count) || !axes_of_list(c, x->rank, count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < count; i++)
        if ((z.dim[places[i]] = scaled_size(x->dim[places[i]], scales[i])) < 0)
            return;
    set_type(c, types, 0, z);
}

static void upsample(struct conversion *c, const struct type *x, struct type *types)
{
    if (c->opset >= 9)
        scale_all(c, x, types, 1);
}

static void size_all(struct conversion *c, const struct type *x, struct type *types, uint32_t input)
{
    const int64_t *sizes;
    uint32_t count;
    int places[MAX_RANK];
    if (!constant_sizes(c, input, &sizes, &count) || !axes_of_list(c, x->rank, count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < count; i++)
        z.dim[places[i]] = sizes[i];
    set_type(c, types, 0, z);
}

static void resize(struct conversion *c, const struct type *x, struct type *types)
{
    if (!text_attribute_is(c, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return;
    if (input_of(c, 3) == NO_TENSOR)
        scale_all(c, x, types, c->opset < 11 ? 1 : 2);
    else
        size_all(c, x, types, 3);
}

static void pad(struct conversion *c, const struct type *x, struct type *types)
{
    const int64_t *pads;
    uint32_t count;
    if (input_of(c, 3) != NO_TENSOR || (c->opset >= 11 && !is_weight(c, input_of(c, 1))) ||
        !list_of(c, "pads", 1, &pads, &count) || count != 2 * (uint32_t)x->rank)
        return;
    struct type z = without_splits(x);
    for (int i = 0; i < x->rank; i++) {
        if (pads[i] < 0 || pads[i] > MAX_ELEMENTS || pads[x->rank + i] < 0 || pads[x->rank + i] > MAX_ELEMENTS)
            return;
        z.dim[i] += pads[i] + pads[x->rank + i];
    }
    set_type(c, types, 0, z);
}

// Indices of rank q whose last axis addresses the first axes of x.
static void gather_nd(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *indices = known_input(c, 1);
    int64_t batch = int_attribute(c, "batch_dims", 0);
    if (!indices || indices->rank == 0 || batch < 0 || batch > x->rank)
        return;
    int64_t addressed = batch + indices->dim[indices->rank - 1];
    if (addressed > x->rank || indices->rank - 1 + x->rank - addressed > MAX_RANK)
        return;
    struct type z = type_make(x->dtype, indices->rank - 1, indices->dim);
    for (int64_t i = addressed; i < x->rank; i++)
        z.dim[z.rank++] = x->dim[i];
    set_type(c, types, 0, z);
}

// A range of integers.
static void range(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t ends[3], length;
    if (!dtype_is_integer(x->dtype) || !ALL(uint32_t, i, 3, constant_int(c, input_of(c, i), &ends[i])) ||
        ends[2] == 0 || ends[2] == INT64_MIN || __builtin_sub_overflow(ends[0], ends[1], &length) ||
        length == INT64_MIN)
        return;
    length = ends[2] > 0 ? -floor_quotient(length, ends[2]) : -floor_quotient(-length, -ends[2]);
    if (length <= MAX_ELEMENTS)
        set_type(c, types, 0, type_make(x->dtype, 1, (int64_t[]){length > 0 ? length : 0}));
}

static void random_numbers(struct conversion *c, const struct type *x, struct type *types)
{
    uint32_t rank;
    const int64_t *shape = ints_attribute(c, "shape", &rank);
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_F32)));
    if (has_attribute(c, "shape") && rank <= MAX_RANK)
        set_type(c, types, 0, type_make(dtype, (int)rank, shape));
}

// A real one has a last axis of one entry, a complex one of two. One side of a transform stands for all of a real
// signal's, which the inverse makes of it.
static void fourier(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t where = int_attribute(c, "axis", c->opset < 20 ? 1 : -2);
    int axis;
    bool is_half = int_attribute(c, "onesided", 0) != 0, is_to_real = is_half && int_attribute(c, "inverse", 0);
    if ((input_of(c, 2) != NO_TENSOR && !constant_int(c, input_of(c, 2), &where)) ||
        !normalize_axis(c, where, x->rank, &axis) || axis == x->rank - 1 || (is_to_real && x->dim[x->rank - 1] != 2))
        return;
    struct type z = without_splits(x);
    if (is_to_real)
        z.dim[axis] = 2 * (z.dim[axis] - 1);
    if ((input_of(c, 1) != NO_TENSOR && !constant_size(c, 1, &z.dim[axis])) || z.dim[axis] < 1)
        return;
    z.dim[axis] = is_half && !is_to_real ? z.dim[axis] / 2 + 1 : z.dim[axis];
    z.dim[x->rank - 1] = is_to_real ? 1 : 2;
    set_type(c, types, 0, z);
}

// A transform of each frame of a signal, (batch, time, 1 or 2).
static void fourier_of_frames(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *window = known_input(c, 2);
    int64_t step, length = window && window->rank == 1 ? window->dim[0] : -1;
    if (x->rank != 3 || !constant_size(c, 1, &step) || (input_of(c, 3) != NO_TENSOR && !constant_size(c, 3, &length)) ||
        step < 1 || length < 0 || length > x->dim[1])
        return;
    int64_t bins = int_attribute(c, "onesided", 1) ? length / 2 + 1 : length;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], (x->dim[1] - length) / step + 1, bins, 2}));
}

const struct typing typings_of_sizes[] = {
    {"DFT", fourier},
    {"GatherND", gather_nd},
    {"Pad", pad},
    {"RandomNormal RandomUniform", random_numbers, .needs_no_input = true},
    {"Range", range},
    {"Resize", resize},
    {"STFT", fourier_of_frames},
    {"TopK", top_k},
    {"Upsample", upsample},
    {0},
};
