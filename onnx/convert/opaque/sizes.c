// Results whose sizes are constants or attributes: what is cut, padded, resized, gathered, or made of nothing.
#include "core/numbers/integers.h"
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/opaque/typing.h"
#include "onnx/convert/operators/convert_resample.h"
#include "onnx/convert/read_node.h"

static void top_k(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    int64_t k;
    int axis;
    if (!x || !constant_size(c, 1, &k) || !normalize_axis(c, int_attribute(c, "axis", -1), x->rank, &axis))
        return;
    struct type z = without_splits(x);
    z.dim[axis] = k;
    set_type(c, types, 0, z);
    z.dtype = DTYPE_I64;
    set_type(c, types, 1, z);
}

static void scale_all(struct conversion *c, struct type *types, uint32_t input)
{
    const struct type *x = known_input(c, 0);
    const double *scales;
    uint32_t count;
    int places[MAX_RANK];
    if (!x || !is_weight(c, input_of(c, input)) || !constant_reals(c, input_of(c, input), MAX_RANK, &scales, &count) ||
        !axes_of_list(c, x->rank, count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < count; i++)
        if ((z.dim[places[i]] = scaled_size(x->dim[places[i]], scales[i])) < 0)
            return;
    set_type(c, types, 0, z);
}

static void upsample(struct conversion *c, struct type *types)
{
    if (c->opset >= 9)
        scale_all(c, types, 1);
}

static void size_all(struct conversion *c, struct type *types, uint32_t input)
{
    const struct type *x = known_input(c, 0);
    const int64_t *sizes;
    uint32_t count;
    int places[MAX_RANK];
    if (!x || !constant_sizes(c, input, &sizes, &count) || !axes_of_list(c, x->rank, count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < count; i++)
        z.dim[places[i]] = sizes[i];
    set_type(c, types, 0, z);
}

static void resize(struct conversion *c, struct type *types)
{
    if (!text_attribute_is(c, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return;
    if (input_of(c, 3) == NO_TENSOR)
        scale_all(c, types, c->opset < 11 ? 1 : 2);
    else
        size_all(c, types, 3);
}

static void center_crop_pad(struct conversion *c, struct type *types)
{
    size_all(c, types, 1);
}

// Columns, (batch, channels times entries of a block, blocks), as an image.
static void col_to_image(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    const int64_t *image, *block;
    uint32_t n, n_block;
    int64_t of_block = 1;
    if (!x || x->rank != 3 || !constant_sizes(c, 1, &image, &n) || !constant_sizes(c, 2, &block, &n_block) ||
        n != n_block || n + 2 > MAX_RANK)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(of_block, block[i], &of_block))
            return;
    if (of_block == 0 || x->dim[1] % of_block)
        return;
    struct type z = type_make(x->dtype, 2, (int64_t[]){x->dim[0], x->dim[1] / of_block});
    for (uint32_t i = 0; i < n; i++)
        z.dim[z.rank++] = image[i];
    set_type(c, types, 0, z);
}

static void pad(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    const int64_t *pads;
    uint32_t count;
    if (!x || input_of(c, 3) != NO_TENSOR || (c->opset >= 11 && !is_weight(c, input_of(c, 1))) ||
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
static void gather_nd(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *indices = known_input(c, 1);
    int64_t batch = int_attribute(c, "batch_dims", 0);
    if (!x || !indices || indices->rank == 0 || batch < 0 || batch > x->rank)
        return;
    int64_t addressed = batch + indices->dim[indices->rank - 1];
    if (addressed > x->rank || indices->rank - 1 + x->rank - addressed > MAX_RANK)
        return;
    struct type z = type_make(x->dtype, indices->rank - 1, indices->dim);
    for (int64_t i = addressed; i < x->rank; i++)
        z.dim[z.rank++] = x->dim[i];
    set_type(c, types, 0, z);
}

// A number for each n-gram, of each row.
static void count_of_ngrams(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    uint32_t count;
    const int64_t *places = ints_attribute(c, "ngram_indexes", &count);
    int64_t last = -1;
    for (uint32_t i = 0; i < count; i++)
        last = places[i] > last ? places[i] : last;
    if (!x || (x->rank != 1 && x->rank != 2) || last < 0 || last >= MAX_ELEMENTS)
        return;
    struct type z = type_make(DTYPE_F32, x->rank, x->dim);
    z.dim[x->rank - 1] = last + 1;
    set_type(c, types, 0, z);
}

// A range of integers.
static void range(struct conversion *c, struct type *types)
{
    int64_t ends[3], length;
    const struct type *first = known_input(c, 0);
    if (!first || !dtype_is_integer(first->dtype))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t *number;
        uint32_t count;
        if (!is_weight(c, input_of(c, i)) || !constant_ints(c, input_of(c, i), 1, &number, &count) || count != 1)
            return;
        ends[i] = number[0];
    }
    if (ends[2] == 0 || ends[2] == INT64_MIN || __builtin_sub_overflow(ends[0], ends[1], &length) ||
        length == INT64_MIN)
        return;
    length = ends[2] > 0 ? -floor_quotient(length, ends[2]) : -floor_quotient(-length, -ends[2]);
    if (length <= MAX_ELEMENTS)
        set_type(c, types, 0, type_make(first->dtype, 1, (int64_t[]){length > 0 ? length : 0}));
}

static void random_numbers(struct conversion *c, struct type *types)
{
    uint32_t rank;
    const int64_t *shape = ints_attribute(c, "shape", &rank);
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_F32)));
    if (has_attribute(c, "shape") && rank <= MAX_RANK)
        set_type(c, types, 0, type_make(dtype, (int)rank, shape));
}

static void multinomial(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_I32)));
    if (x && x->rank == 2)
        set_type(c, types, 0, type_make(dtype, 2, (int64_t[]){x->dim[0], int_attribute(c, "sample_size", 1)}));
}

const struct typing typings_of_sizes[] = {
    {"CenterCropPad", center_crop_pad},
    {"Col2Im", col_to_image},
    {"GatherND", gather_nd},
    {"Multinomial", multinomial},
    {"Pad", pad},
    {"RandomNormal", random_numbers},
    {"RandomUniform", random_numbers},
    {"Range", range},
    {"Resize", resize},
    {"TfIdfVectorizer", count_of_ngrams},
    {"TopK", top_k},
    {"Upsample", upsample},
    {0},
};
