// Operators that resample axes. What chooses entries (nearest neighbours, reflecting pads) is a gather by constant
// indices, what mixes them (linear and cubic interpolation) a product with a constant matrix, axis by axis.
#include "onnx/convert/operators/converters.h"

#include <math.h>

#define LARGEST_AXIS (1 << 20)   // places of a resampled axis

static tensor_id choose_on_axis(struct conversion *c, tensor_id x, int axis, int64_t n, const int64_t *places)
{
    return apply(c, OP_GATHER, INPUTS(x, int_weight(c, 1, &n, places)), WITH(integer("axis", axis)));
}

static int64_t clamped(int64_t place, int64_t size)
{
    return place < 0 ? 0 : place >= size ? size - 1 : place;
}

// ---- pads that repeat entries ----

static int64_t reflected(int64_t place, int64_t size)
{
    int64_t period = 2 * (size - 1);
    if (period == 0)
        return 0;
    place = (place % period + period) % period;
    return place < size ? place : period - place;
}

static int64_t wrapped(int64_t place, int64_t size)
{
    return (place % size + size) % size;
}

static bool is_of_size_of_axes(int64_t pad)
{
    return pad >= -LARGEST_AXIS && pad <= LARGEST_AXIS;
}

static tensor_id pad_by_entries(struct conversion *c, tensor_id x, const int64_t *pads)
{
    int64_t (*place_of)(int64_t, int64_t) = text_attribute_is(c, "mode", "edge", "constant")      ? clamped
                                            : text_attribute_is(c, "mode", "reflect", "constant") ? reflected
                                            : text_attribute_is(c, "mode", "wrap", "constant")    ? wrapped
                                                                                                  : NULL;
    if (!place_of)
        return NO_TENSOR;
    struct type type = *type_of(c, x);
    for (int axis = 0; axis < type.rank; axis++) {
        int64_t begin = pads[axis], end = pads[type.rank + axis];
        if (begin == 0 && end == 0)
            continue;
        if (type.dim[axis] == 0 || !is_of_size_of_axes(begin) || !is_of_size_of_axes(end))
            return NO_TENSOR;
        if ((begin < 0 && end > 0) || (begin > 0 && end < 0))
            return no_tensor(c, "it repeats entries of an axis that it cuts, which may come first");
        int64_t n = type.dim[axis] + begin + end;
        if (n < 0 || n > LARGEST_AXIS)
            return NO_TENSOR;
        int64_t *places = arena_array(&c->importer->scratch, int64_t, n + 1);
        for (int64_t i = 0; i < n; i++)
            places[i] = place_of(i - begin, type.dim[axis]);
        x = choose_on_axis(c, x, axis, n, places);
    }
    return x;
}

static bool read_pads(struct conversion *c, int rank, int64_t *ret_pads)
{
    struct integers pads, axes = {NULL, (uint32_t)rank};
    if (!list_of(c, "pads", 1, &pads) ||
        (input_of(c, 3) != NO_TENSOR && !constant_ints(c, input_of(c, 3), MAX_RANK, &axes)))
        return false;
    if (pads.count != 2 * axes.count)
        return cannot(c, "it has %u pads", pads.count);
    for (uint32_t i = 0; i < axes.count; i++) {
        int axis;
        if (!normalize_axis(c, axes.items ? axes.items[i] : i, rank, &axis))
            return false;
        ret_pads[axis] = pads.items[i];
        ret_pads[rank + axis] = pads.items[axes.count + i];
    }
    return true;
}

static bool read_pad_value(struct conversion *c, double *ret_value)
{
    *ret_value = float_attribute(c, "value", 0);
    return c->opset < 11 || input_of(c, 2) == NO_TENSOR || constant_real(c, input_of(c, 2), ret_value);
}

bool convert_pad(struct conversion *c)
{
    int64_t pads[2 * MAX_RANK] = {0};
    double value;
    int rank = type_of(c, input_of(c, 0))->rank;
    if (!read_pads(c, rank, pads))
        return false;
    if (ALL(int, i, 2 * rank, pads[i] == 0))
        return give(c, 0, input_of(c, 0));
    if (!text_attribute_is(c, "mode", "constant", "constant"))
        return give(c, 0, pad_by_entries(c, input_of(c, 0), pads));
    return read_pad_value(c, &value) &&
           give(c, 0, apply(c, OP_PAD, 1, c->inputs, WITH(list("pads", 2 * rank, pads), real("value", value))));
}

// ---- resizing ----

struct resampling {
    int64_t from, to;   // sizes
    double scale;       // to / from, or what the model says
};

// The place in the input at which the output's lies.
static double source_place(const struct conversion *c, const struct resampling *r, int64_t place)
{
    double x = (double)place, centre = (x + 0.5) / r->scale - 0.5;
    const char *name = "coordinate_transformation_mode", *standard = c->opset < 11 ? "asymmetric" : "half_pixel";
    if (text_attribute_is(c, name, "asymmetric", standard))
        return x / r->scale;
    if (text_attribute_is(c, name, "align_corners", standard))
        return r->to > 1 ? x * (double)(r->from - 1) / (double)(r->to - 1) : 0;
    if (text_attribute_is(c, name, "pytorch_half_pixel", standard))
        return r->to > 1 ? centre : 0;
    if (text_attribute_is(c, name, "half_pixel_symmetric", standard))
        return centre + (double)r->from / 2 * (1 - (double)r->to / (r->scale * (double)r->from));
    return centre;
}

// ONNX and its runtimes disagree on aligned corners when the scaled size is no whole number.
static bool is_ambiguous(const struct conversion *c, const struct resampling *r)
{
    return text_attribute_is(c, "coordinate_transformation_mode", "align_corners", "half_pixel") &&
           (double)r->from * r->scale != (double)r->to;
}

static bool has_known_coordinates(struct conversion *c)
{
    static const char *const modes[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                        "half_pixel_symmetric"};
    return ANY(size_t, i, sizeof modes / sizeof modes[0],
               text_attribute_is(c, "coordinate_transformation_mode", modes[i], "half_pixel")) ||
           cannot(c, "its coordinates are not computed with");
}

#define ROUNDING_OF_RUNTIMES 1e-5   // of places, relative to 1 + the place

// Do runtimes that compute places in single precision decide as this does? At whole numbers (or halves, as `limit`
// says) decisions change: a place must be one exactly, or far from all of them.
static bool is_clear(const struct resampling *r, double x, double limit)
{
    double distance = fabs(x - limit - nearbyint(x - limit));
    return distance == 0 ? (double)(float)r->scale == r->scale : distance > ROUNDING_OF_RUNTIMES * (1 + fabs(x));
}

static bool nearest_place(struct conversion *c, const struct resampling *r, int64_t place, int64_t *ret_place)
{
    const char *standard = c->opset < 11 ? "floor" : "round_prefer_floor";
    bool is_floor = text_attribute_is(c, "nearest_mode", "floor", standard);
    bool is_ceil = text_attribute_is(c, "nearest_mode", "ceil", standard);
    bool prefers_ceil = text_attribute_is(c, "nearest_mode", "round_prefer_ceil", standard);
    double x = source_place(c, r, place);
    if (!is_clear(r, x, is_floor || is_ceil ? 0 : 0.5))
        return cannot(c, "its nearest places depend on how places are rounded");
    x = is_floor ? floor(x) : is_ceil ? ceil(x) : prefers_ceil ? floor(x + 0.5) : ceil(x - 0.5);
    *ret_place = clamped((int64_t)x, r->from);
    return true;
}

static tensor_id choose_nearest(struct conversion *c, tensor_id x, int axis, const struct resampling *r)
{
    int64_t *places = arena_array(&c->importer->scratch, int64_t, r->to + 1);
    if (c->opset < 11 && r->scale < 1 && !cannot(c, "what it chooses when it shrinks was not said then"))
        return NO_TENSOR;
    for (int64_t i = 0; i < r->to; i++)
        if (!nearest_place(c, r, i, &places[i]))
            return NO_TENSOR;
    return choose_on_axis(c, x, axis, r->to, places);
}

static double cubic_weight(double distance, double a)
{
    double d = fabs(distance);
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((d - 5) * d + 8) * a * d - 4 * a : 0;
}

// A column of the matrix: the weights of the input's places for one of the output's.
static void fill_column(const struct conversion *c, const struct resampling *r, int64_t place, bool is_cubic,
                        double *matrix)
{
    double x = source_place(c, r, place), sum = 0;
    int64_t first = (int64_t)floor(x) - is_cubic, taps = is_cubic ? 4 : 2;
    bool excludes = is_cubic && int_attribute(c, "exclude_outside", 0);
    double a = float_attribute(c, "cubic_coeff_a", -0.75);
    for (int64_t i = first; i < first + taps; i++) {
        double distance = x - (double)i, weight = is_cubic ? cubic_weight(distance, a) : 1 - fabs(distance);
        if (excludes && (i < 0 || i >= r->from))
            continue;
        matrix[clamped(i, r->from) * r->to + place] += weight;
        sum += weight;
    }
    for (int64_t i = 0; excludes && sum != 0 && i < r->from; i++)
        matrix[i * r->to + place] /= sum;
}

// The axis is brought to the end, multiplied, and brought back.
static tensor_id interpolate(struct conversion *c, tensor_id x, int axis, const struct resampling *r, bool is_cubic)
{
    struct type type = *type_of(c, x);
    int64_t perm[MAX_RANK], dim[2] = {r->from, r->to};
    double *matrix = arena_array(&c->importer->scratch, double, r->from * r->to + 1);
    for (int64_t i = 0; i < r->to; i++)
        fill_column(c, r, i, is_cubic, matrix);
    for (int i = 0; i < type.rank; i++)
        perm[i] = i;
    perm[axis] = type.rank - 1;
    perm[type.rank - 1] = axis;
    tensor_id z = transpose_by(c, x, perm);
    return transpose_by(c, matmul(c, z, real_weight(c, type.dtype, 2, dim, matrix)), perm);
}

static tensor_id resample_axis(struct conversion *c, tensor_id x, int axis, const struct resampling *r)
{
    if (text_attribute_is(c, "mode", "nearest", "nearest"))
        return choose_nearest(c, x, axis, r);
    bool is_cubic = text_attribute_is(c, "mode", "cubic", "nearest");
    if (!dtype_is_float(type_of(c, x)->dtype) || type_of(c, x)->rank < 2 || r->from > LARGEST_AXIS / r->to)
        return NO_TENSOR;
    return interpolate(c, x, axis, r, is_cubic);
}

static bool read_sizes(struct conversion *c, uint32_t input, const struct type *x, struct resampling *ret_axes)
{
    struct integers sizes;
    int places[MAX_RANK];
    if (!constant_ints(c, input_of(c, input), MAX_RANK, &sizes) || !axes_of_list(c, x->rank, sizes.count, places))
        return false;
    for (uint32_t i = 0; i < sizes.count; i++) {
        int64_t from = x->dim[places[i]], to = sizes.items[i];
        ret_axes[places[i]] = (struct resampling){from, to, (double)to / (double)from};
    }
    return true;
}

static bool read_scales(struct conversion *c, uint32_t input, const struct type *x, struct resampling *ret_axes)
{
    struct reals scales;
    int places[MAX_RANK];
    if (!constant_reals(c, input_of(c, input), MAX_RANK, &scales) || !axes_of_list(c, x->rank, scales.count, places))
        return false;
    for (uint32_t i = 0; i < scales.count; i++) {
        int64_t from = x->dim[places[i]], size = scaled_size(from, scales.items[i]);
        if (size < 0)
            return cannot(c, "its sizes depend on how they are rounded");
        ret_axes[places[i]] = (struct resampling){from, size < LARGEST_AXIS ? size : 0, scales.items[i]};
    }
    return true;
}

static void keep_all_axes(const struct type *x, struct resampling *ret_axes)
{
    for (int i = 0; i < x->rank; i++)
        ret_axes[i] = (struct resampling){x->dim[i], x->dim[i], 1};
}

static bool resize_axes(struct conversion *c, const struct type *type, const struct resampling *axes)
{
    tensor_id z = input_of(c, 0);
    for (int i = 0; i < type->rank; i++)
        if (axes[i].from < 1 || axes[i].to < 1 || axes[i].to > LARGEST_AXIS || !(axes[i].scale > 0))
            return cannot(c, "it has an impossible size");
        else if (is_ambiguous(c, &axes[i]))
            return cannot(c, "it aligns corners at a scaled size that is no whole number");
    for (int i = 0; i < type->rank && z != NO_TENSOR; i++)
        if (axes[i].to != axes[i].from || axes[i].scale != 1)
            z = resample_axis(c, z, i, &axes[i]);
    return give(c, 0, z);
}

bool convert_resize(struct conversion *c)
{
    struct resampling axes[MAX_RANK];
    if (int_attribute(c, "antialias", 0) || !has_known_coordinates(c) ||
        !text_attribute_is(c, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return cannot(c, "it smooths, or keeps the aspect ratio");
    struct type x = *type_of(c, input_of(c, 0));
    keep_all_axes(&x, axes);
    bool has_sizes = input_of(c, 3) != NO_TENSOR;
    return !(has_sizes ? !read_sizes(c, 3, &x, axes) : !read_scales(c, c->opset < 11 ? 1 : 2, &x, axes)) &&
           resize_axes(c, &x, axes);
}

bool convert_upsample(struct conversion *c)
{
    struct resampling axes[MAX_RANK];
    struct type x = *type_of(c, input_of(c, 0));
    keep_all_axes(&x, axes);
    return read_scales(c, 1, &x, axes) && resize_axes(c, &x, axes);
}
