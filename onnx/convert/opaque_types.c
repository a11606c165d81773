// One row per operator whose results' types are easily said. A row's function may rely on nothing: inputs may be
// missing or of unknown type, and lists that set sizes may not be constant; then it leaves the types unknown.
#include "onnx/convert/opaque_types.h"

#include "onnx/convert/importer.h"

#include <math.h>
#include <string.h>

struct typing {
    const char *name;
    void (*infer)(struct conversion *c, struct type *types);
};

static const struct type *known_input(const struct conversion *c, uint32_t input)
{
    tensor_id tensor = input_of(c, input);
    const struct type *t = tensor == NO_TENSOR ? NULL : type_of(c, tensor);
    return t && type_is_known(t) ? t : NULL;
}

static struct type without_splits(const struct type *t)
{
    return type_make(t->dtype, t->rank, t->dim);
}

static void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type)
{
    if (output < c->n_outputs)
        types[output] = type;
}

// ---- of the shape of an input ----

static void as_first(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, 0, without_splits(x));
}

static void set_like_first(struct conversion *c, struct type *types, uint32_t output, enum dtype dtype)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, output, type_make(dtype, x->rank, x->dim));
}

static void as_first_of_bool(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 0, DTYPE_BOOL);
}

// The element type may be an attribute.
static void as_first_with_dtype(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, 0,
                 type_make(has_attribute(c, "dtype") ? dtype_from_onnx(int_attribute(c, "dtype", 0)) : x->dtype,
                           x->rank, x->dim));
}

static void cast(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 0, dtype_from_onnx(int_attribute(c, "to", 0)));
}

static void dropout(struct conversion *c, struct type *types)
{
    as_first(c, types);
    if (known_input(c, 0) && c->n_outputs > 1)
        set_type(c, types, 1, type_make(DTYPE_BOOL, types[0].rank, types[0].dim));
}

static void broadcast(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *y = known_input(c, 1);
    struct type z = {0};
    if (!x || !y || !common_shape(c, x, y, &z.rank, z.dim))
        return;
    set_type(c, types, 0, type_make(x->dtype, z.rank, z.dim));
}

// ---- recurrent networks: X is (time, batch, size), with layout 1 (batch, time, size) ----

static void recurrent(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *weights = known_input(c, 2);
    int64_t hidden = int_attribute(c, "hidden_size", weights && weights->rank == 3 ? weights->dim[2] : -1);
    if (!x || x->rank != 3 || hidden < 1)
        return;
    int64_t directions = text_attribute_is(c, "direction", "bidirectional", "forward") ? 2 : 1;
    bool is_batch_first = int_attribute(c, "layout", 0) == 1;
    int64_t batch = x->dim[is_batch_first ? 0 : 1], time = x->dim[is_batch_first ? 1 : 0];
    int64_t all[2][4] = {{time, directions, batch, hidden}, {batch, time, directions, hidden}};
    int64_t last[2][3] = {{directions, batch, hidden}, {batch, directions, hidden}};
    set_type(c, types, 0, type_make(x->dtype, 4, all[is_batch_first]));
    set_type(c, types, 1, type_make(x->dtype, 3, last[is_batch_first]));
    set_type(c, types, 2, type_make(x->dtype, 3, last[is_batch_first]));
}

// ---- sizes from constants ----

static bool constant_sizes(struct conversion *c, uint32_t input, const int64_t **ret_sizes, uint32_t *ret_count)
{
    bool is_known =
        is_weight(c, input_of(c, input)) && constant_ints(c, input_of(c, input), MAX_RANK, ret_sizes, ret_count);
    for (uint32_t i = 0; is_known && i < *ret_count; i++)
        is_known = (*ret_sizes)[i] >= 0 && (*ret_sizes)[i] <= MAX_ELEMENTS;
    return is_known;
}

static bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size)
{
    const int64_t *sizes;
    uint32_t count;
    bool is_known = constant_sizes(c, input, &sizes, &count) && count == 1;
    *ret_size = is_known ? sizes[0] : -1;
    return is_known;
}

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

// The places of an image, (batch, channels, sizes), with a coordinate for each axis.
static void affine_grid(struct conversion *c, struct type *types)
{
    const struct type *theta = known_input(c, 0);
    const int64_t *sizes;
    uint32_t count;
    if (!theta || theta->rank != 3 || !constant_sizes(c, 1, &sizes, &count) || (count != 4 && count != 5))
        return;
    struct type z = type_make(theta->dtype, (int)count, sizes);
    for (uint32_t i = 2; i < count; i++)
        z.dim[i - 1] = sizes[i];
    z.dim[count - 1] = count - 2;
    set_type(c, types, 0, z);
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

static void grid_sample(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *grid = known_input(c, 1);
    if (!x || !grid || x->rank != grid->rank || x->rank < 3)
        return;
    struct type z = without_splits(x);
    for (int i = 2; i < x->rank; i++)
        z.dim[i] = grid->dim[i - 1];
    set_type(c, types, 0, z);
}

// ---- windows ----

// A number for each spatial axis, or for each of their ends; none: the standard.
struct numbers {
    uint32_t count;
    const int64_t *items;
};

static struct numbers numbers_of(struct conversion *c, const char *attribute)
{
    struct numbers n;
    n.items = ints_attribute(c, attribute, &n.count);
    return n;
}

static bool has_count(const struct numbers *n, uint32_t count)
{
    return n->count == 0 || n->count == count;
}

// Numbers are of any size, and so are sums of them.
static double number_at(const struct numbers *n, uint32_t i, double standard)
{
    return n->count ? (double)n->items[i] : standard;
}

struct sliding {
    uint32_t n;   // spatial axes
    const int64_t *kernel;
    struct numbers strides, pads, dilations, extra;
};

// Of the node's attributes, with pads that are numbers.
static bool find_sliding(struct conversion *c, const struct type *x, const int64_t *kernel, struct sliding *ret)
{
    uint32_t n = (uint32_t)x->rank - 2;
    *ret = (struct sliding){n,
                            kernel,
                            numbers_of(c, "strides"),
                            numbers_of(c, "pads"),
                            numbers_of(c, "dilations"),
                            numbers_of(c, "output_padding")};
    return text_attribute_is(c, "auto_pad", "NOTSET", "NOTSET") && has_count(&ret->strides, n) &&
           has_count(&ret->pads, 2 * n) && has_count(&ret->dilations, n) && has_count(&ret->extra, n);
}

static double reach_at(const struct sliding *s, uint32_t i)
{
    return number_at(&s->dilations, i, 1) * (double)(s->kernel[i] - 1) + 1;
}

static double pads_at(const struct sliding *s, uint32_t i)
{
    return number_at(&s->pads, i, 0) + number_at(&s->pads, s->n + i, 0);
}

// What windows that slide over the result have made the image of.
static double size_before_sliding(const struct sliding *s, uint32_t i, int64_t size)
{
    return number_at(&s->strides, i, 1) * (double)(size - 1) + reach_at(s, i) + number_at(&s->extra, i, 0) -
           pads_at(s, i);
}

static double size_after_sliding(const struct sliding *s, uint32_t i, int64_t size)
{
    double room = (double)size + pads_at(s, i) - reach_at(s, i);
    return room < 0 ? -1 : floor(room / number_at(&s->strides, i, 1)) + 1;
}

static void set_image(const struct conversion *c, struct type *types, const struct type *x, int64_t channels,
                      const struct sliding *s, double (*size_of)(const struct sliding *s, uint32_t i, int64_t size))
{
    struct type z = without_splits(x);
    z.dim[1] = channels;
    for (uint32_t i = 0; i < s->n; i++) {
        double size = size_of(s, i, x->dim[2 + i]);
        if (!(size >= 0 && size < (double)MAX_ELEMENTS))
            return;
        z.dim[2 + i] = (int64_t)size;
    }
    set_type(c, types, 0, z);
}

static void conv_transpose(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *k = known_input(c, 1);
    struct sliding s;
    int64_t channels;
    if (x && k && x->rank >= 3 && k->rank == x->rank && !has_attribute(c, "output_shape") &&
        find_sliding(c, x, k->dim + 2, &s) &&
        !__builtin_mul_overflow(k->dim[1], int_attribute(c, "group", 1), &channels) && channels >= 0)
        set_image(c, types, x, channels, &s, size_before_sliding);
}

static void pool_by(struct conversion *c, struct type *types,
                    double (*size_of)(const struct sliding *s, uint32_t i, int64_t size))
{
    const struct type *x = known_input(c, 0);
    struct numbers kernel = numbers_of(c, "kernel_shape");
    struct sliding s;
    if (x && x->rank >= 3 && kernel.count == (uint32_t)x->rank - 2 && find_sliding(c, x, kernel.items, &s))
        set_image(c, types, x, x->dim[1], &s, size_of);
}

static void lp_pool(struct conversion *c, struct type *types)
{
    if (!int_attribute(c, "ceil_mode", 0))
        pool_by(c, types, size_after_sliding);
}

static void max_unpool(struct conversion *c, struct type *types)
{
    if (input_of(c, 2) == NO_TENSOR)
        pool_by(c, types, size_before_sliding);
}

// A region of the image of its place in the batch for each row of the second input.
static void roi_align(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *regions = known_input(c, 1);
    struct numbers pooled = numbers_of(c, "pooled_shape");   // of MaxRoiPool
    int64_t height = pooled.count == 2 ? pooled.items[0] : int_attribute(c, "output_height", 1);
    int64_t width = pooled.count == 2 ? pooled.items[1] : int_attribute(c, "output_width", 1);
    if (x && regions && x->rank == 4 && regions->rank == 2 && height > 0 && width > 0)
        set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){regions->dim[0], x->dim[1], height, width}));
}

// ---- signals ----

// A real one has a last axis of one entry, a complex one of two.
static void fourier(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    int64_t where = int_attribute(c, "axis", c->opset < 20 ? 1 : -2);
    const int64_t *given;
    uint32_t count;
    int axis;
    bool is_half = int_attribute(c, "onesided", 0) != 0;
    if (!x || (is_half && int_attribute(c, "inverse", 0)))
        return;
    if (input_of(c, 2) != NO_TENSOR) {
        if (!is_weight(c, input_of(c, 2)) || !constant_ints(c, input_of(c, 2), 1, &given, &count) || count != 1)
            return;
        where = given[0];
    }
    if (!normalize_axis(c, where, x->rank, &axis) || axis == x->rank - 1)
        return;
    struct type z = without_splits(x);
    if (input_of(c, 1) != NO_TENSOR && !constant_size(c, 1, &z.dim[axis]))
        return;
    z.dim[axis] = is_half ? z.dim[axis] / 2 + 1 : z.dim[axis];
    z.dim[x->rank - 1] = 2;
    set_type(c, types, 0, z);
}

// A transform of each frame of a signal, (batch, time, 1 or 2).
static void fourier_of_frames(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *window = known_input(c, 2);
    int64_t step, length = window && window->rank == 1 ? window->dim[0] : -1;
    if (!x || x->rank != 3 || !constant_size(c, 1, &step) ||
        (input_of(c, 3) != NO_TENSOR && !constant_size(c, 3, &length)) || step < 1 || length < 0 || length > x->dim[1])
        return;
    int64_t bins = int_attribute(c, "onesided", 1) ? length / 2 + 1 : length;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], (x->dim[1] - length) / step + 1, bins, 2}));
}

static enum dtype dtype_of_signal(struct conversion *c)
{
    return dtype_from_onnx(int_attribute(c, "output_datatype", dtype_to_onnx(DTYPE_F32)));
}

static void window_of_signal(struct conversion *c, struct type *types)
{
    int64_t size;
    if (constant_size(c, 0, &size))
        set_type(c, types, 0, type_make(dtype_of_signal(c), 1, &size));
}

static void mel_weights(struct conversion *c, struct type *types)
{
    int64_t bins, length;
    if (constant_size(c, 0, &bins) && constant_size(c, 1, &length))
        set_type(c, types, 0, type_make(dtype_of_signal(c), 2, (int64_t[]){length / 2 + 1, bins}));
}

// ---- random numbers ----

static void random_numbers(struct conversion *c, struct type *types)
{
    struct numbers shape = numbers_of(c, "shape");
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_F32)));
    if (has_attribute(c, "shape") && shape.count <= MAX_RANK)
        set_type(c, types, 0, type_make(dtype, (int)shape.count, shape.items));
}

static void multinomial(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_I32)));
    if (x && x->rank == 2)
        set_type(c, types, 0, type_make(dtype, 2, (int64_t[]){x->dim[0], int_attribute(c, "sample_size", 1)}));
}

// ---- losses, determinants, text ----

static void loss(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *target = known_input(c, 1);
    bool is_for_each = text_attribute_is(c, "reduction", "none", "mean");
    if (x && target)
        set_type(c, types, 0, type_make(x->dtype, is_for_each ? target->rank : 0, target->dim));
    if (x)
        set_type(c, types, 1, without_splits(x));
}

static void determinant(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x && x->rank >= 2)
        set_type(c, types, 0, type_make(x->dtype, x->rank - 2, x->dim));
}

static void split_text(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 1, DTYPE_I64);
}

// A number for each n-gram, of each row.
static void count_of_ngrams(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    struct numbers places = numbers_of(c, "ngram_indexes");
    int64_t last = -1;
    for (uint32_t i = 0; i < places.count; i++)
        last = places.items[i] > last ? places.items[i] : last;
    if (!x || (x->rank != 1 && x->rank != 2) || last < 0 || last >= MAX_ELEMENTS)
        return;
    struct type z = type_make(DTYPE_F32, x->rank, x->dim);
    z.dim[x->rank - 1] = last + 1;
    set_type(c, types, 0, z);
}

// ---- sequences and what may be there or not ----

static void is_there(struct conversion *c, struct type *types)
{
    set_type(c, types, 0, type_make(DTYPE_BOOL, 0, NULL));
}

static void length_of_sequence(struct conversion *c, struct type *types)
{
    set_type(c, types, 0, type_make(DTYPE_I64, 0, NULL));
}

// Queries that attend to values: (batch, heads, places, entries), or (batch, places, heads times entries).
static void attention(struct conversion *c, struct type *types)
{
    const struct type *queries = known_input(c, 0), *values = known_input(c, 2);
    if (!queries || !values || queries->rank != values->rank || (queries->rank != 3 && queries->rank != 4))
        return;
    bool is_flat = queries->rank == 3;
    int64_t heads = is_flat ? int_attribute(c, "q_num_heads", 0) : 1;
    int64_t heads_of_values = is_flat ? int_attribute(c, "kv_num_heads", 0) : 1;
    int last = queries->rank - 1;
    struct type z = without_splits(queries);
    if (heads < 1 || heads_of_values < 1 || values->dim[last] % heads_of_values ||
        __builtin_mul_overflow(values->dim[last] / heads_of_values, heads, &z.dim[last]))
        return;
    set_type(c, types, 0, z);
}

// The offsets have a place for each entry that is made.
static void deform_conv(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *k = known_input(c, 1), *offsets = known_input(c, 2);
    if (!x || !k || !offsets || x->rank != 4 || k->rank != 4 || offsets->rank != 4)
        return;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], k->dim[0], offsets->dim[2], offsets->dim[3]}));
}

// ---- operators of ONNX Runtime's own that quantized models have ----

// Each operand stands with its scale and zero point.
static void broadcast_quantized(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *y = known_input(c, 3);
    struct type z = {0};
    if (x && y && common_shape(c, x, y, &z.rank, z.dim))
        set_type(c, types, 0, type_make(x->dtype, z.rank, z.dim));
}

// Of the sum of both inputs, which is the fourth output.
static void normalized_sum(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    for (uint32_t i = 0; x && i <= 3; i += 3)
        set_type(c, types, i, without_splits(x));
}

static void global_pool(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    bool is_channels_last = int_attribute(c, "channels_last", 0) != 0;
    if (!x || x->rank < 3)
        return;
    struct type z = without_splits(x);
    for (int i = is_channels_last ? 1 : 2; i < x->rank - is_channels_last; i++)
        z.dim[i] = 1;
    set_type(c, types, 0, z);
}

static const struct typing typings[] = {
    {"AffineGrid", affine_grid},
    {"Attention", attention},
    {"Bernoulli", as_first_with_dtype},
    {"BitShift", broadcast},
    {"BitwiseAnd", broadcast},
    {"BitwiseNot", as_first},
    {"BitwiseOr", broadcast},
    {"BitwiseXor", broadcast},
    {"BlackmanWindow", window_of_signal},
    {"Cast", cast},
    {"CenterCropPad", center_crop_pad},
    {"Clip", as_first},
    {"Col2Im", col_to_image},
    {"ConvTranspose", conv_transpose},
    {"CumProd", as_first},
    {"DFT", fourier},
    {"DeformConv", deform_conv},
    {"Det", determinant},
    {"Dropout", dropout},
    {"EyeLike", as_first_with_dtype},
    {"GRU", recurrent},
    {"GatherND", gather_nd},
    {"GlobalLpPool", global_pool},
    {"GridSample", grid_sample},
    {"HammingWindow", window_of_signal},
    {"HannWindow", window_of_signal},
    {"Hardmax", as_first},
    {"If", infer_type_of_if},
    {"IsInf", as_first_of_bool},
    {"LSTM", recurrent},
    {"Loop", infer_type_of_loop},
    {"LpNormalization", as_first},
    {"LpPool", lp_pool},
    {"MaxRoiPool", roi_align},
    {"MaxUnpool", max_unpool},
    {"MeanVarianceNormalization", as_first},
    {"MelWeightMatrix", mel_weights},
    {"Mod", broadcast},
    {"Multinomial", multinomial},
    {"NegativeLogLikelihoodLoss", loss},
    {"OptionalHasElement", is_there},
    {"Pad", pad},
    {"RNN", recurrent},
    {"RandomNormal", random_numbers},
    {"RandomNormalLike", as_first_with_dtype},
    {"RandomUniform", random_numbers},
    {"RandomUniformLike", as_first_with_dtype},
    {"RegexFullMatch", as_first_of_bool},
    {"Resize", resize},
    {"ReverseSequence", as_first},
    {"RoiAlign", roi_align},
    {"RotaryEmbedding", as_first},
    {"STFT", fourier_of_frames},
    {"Scan", infer_type_of_scan},
    {"Scatter", as_first},
    {"ScatterElements", as_first},
    {"ScatterND", as_first},
    {"SequenceLength", length_of_sequence},
    {"Shrink", as_first},
    {"SimplifiedLayerNormalization", as_first},
    {"SoftmaxCrossEntropyLoss", loss},
    {"StringConcat", broadcast},
    {"StringSplit", split_text},
    {"TensorScatter", as_first},
    {"TfIdfVectorizer", count_of_ngrams},
    {"TopK", top_k},
    {"Trilu", as_first},
    {"Upsample", upsample},
};

static const struct typing microsoft_typings[] = {
    {"BiasGelu", as_first},
    {"FastGelu", as_first},
    {"QLinearAdd", broadcast_quantized},
    {"QLinearGlobalAveragePool", global_pool},
    {"QLinearLeakyRelu", as_first},
    {"QLinearMul", broadcast_quantized},
    {"QLinearSigmoid", as_first},
    {"QLinearSoftmax", as_first},
    {"QuickGelu", as_first},
    {"SkipLayerNormalization", normalized_sum},
    {"SkipSimplifiedLayerNormalization", normalized_sum},
};

static void infer_by(const struct typing *rows, size_t n, struct conversion *c, struct type *ret_types)
{
    char reason[sizeof c->reason];
    memcpy(reason, c->reason, sizeof reason);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, c->node->op_type.text) == 0)
            rows[i].infer(c, ret_types);
    memcpy(c->reason, reason, sizeof reason);
}

// Of ONNX Runtime's operators, those that have the name of one of ONNX's that works entry by entry do so, too.
static bool is_called_as_a_function_of_entries(const struct onnx_node *node)
{
    const struct converter *same = converter_find(node->op_type.text);
    const struct operator* op = same ? operators[same->parameter] : NULL;
    return op && op->flags & OPERATOR_IS_ELEMENTWISE && op->max_inputs == 1;
}

// Operators of a runtime's own come before a model's functions of their names.
static bool is_of_a_runtime(const struct onnx_string *domain)
{
    static const char *const beginnings[] = {"ai.onnx", "com.microsoft", "com.ms."};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (domain->size && strncmp(domain->text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

void infer_opaque_types(struct conversion *c, struct type *ret_types)
{
    const struct onnx_function *called = function_called_by(c);
    if (onnx_node_has_standard_domain(c->node))
        infer_by(typings, sizeof typings / sizeof typings[0], c, ret_types);
    else if (called && !is_of_a_runtime(&c->node->domain))
        infer_type_of_call(c, called, ret_types);
    else if (!called && onnx_string_is(&c->node->domain, "com.microsoft")) {
        infer_by(microsoft_typings, sizeof microsoft_typings / sizeof microsoft_typings[0], c, ret_types);
        if (is_called_as_a_function_of_entries(c->node))
            as_first(c, ret_types);
    }
}
