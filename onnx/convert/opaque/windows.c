// Images: windows that slide over them, regions of them, and places in them.
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/opaque/typing.h"
#include "onnx/convert/read_node.h"

#include <math.h>

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

// Windows by the node's attributes.
static bool find_sliding(struct conversion *c, const struct type *x, const int64_t *kernel, struct sliding *ret)
{
    uint32_t n = (uint32_t)x->rank - 2;
    *ret = (struct sliding){n,
                            kernel,
                            numbers_of(c, "strides"),
                            numbers_of(c, "pads"),
                            numbers_of(c, "dilations"),
                            numbers_of(c, "output_padding")};
    return has_count(&ret->strides, n) && has_count(&ret->pads, 2 * n) && has_count(&ret->dilations, n) &&
           has_count(&ret->extra, n);
}

static double reach_at(const struct sliding *s, uint32_t i)
{
    return number_at(&s->dilations, i, 1) * (double)(s->kernel[i] - 1) + 1;
}

static double pads_at(const struct sliding *s, uint32_t i)
{
    return number_at(&s->pads, i, 0) + number_at(&s->pads, s->n + i, 0);
}

// The size that windows sliding over the result have made the image of.
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

// A size with one window more where some entries are left over, unless it would begin behind the image.
static double size_rounded_up(const struct sliding *s, uint32_t i, int64_t size)
{
    double stride = number_at(&s->strides, i, 1), room = (double)size + pads_at(s, i) - reach_at(s, i);
    double places = ceil(room / stride) + 1;
    bool is_behind = (places - 1) * stride >= (double)size + number_at(&s->pads, i, 0);
    return room < 0 ? -1 : places - is_behind;
}

// A size with pads that keep it, but for strides.
static double size_of_same(const struct sliding *s, uint32_t i, int64_t size)
{
    return ceil((double)size / number_at(&s->strides, i, 1));
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

static bool has_numbers_as_pads(const struct conversion *c)
{
    return text_attribute_is(c, "auto_pad", "NOTSET", "NOTSET");
}

static void conv_transpose(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *k = known_input(c, 1);
    struct sliding s;
    int64_t channels;
    if (x && k && x->rank >= 3 && k->rank == x->rank && !has_attribute(c, "output_shape") && has_numbers_as_pads(c) &&
        find_sliding(c, x, k->dim + 2, &s) &&
        !__builtin_mul_overflow(k->dim[1], int_attribute(c, "group", 1), &channels) && channels >= 0)
        set_image(c, types, x, channels, &s, size_before_sliding);
}

static bool find_sliding_of_pool(struct conversion *c, const struct type *x, struct sliding *ret)
{
    struct numbers kernel = numbers_of(c, "kernel_shape");
    return x && x->rank >= 3 && kernel.count == (uint32_t)x->rank - 2 && find_sliding(c, x, kernel.items, ret);
}

static bool is_dilated(const struct sliding *s)
{
    bool is = false;
    for (uint32_t i = 0; i < s->n; i++)
        is = is || number_at(&s->dilations, i, 1) != 1;
    return is;
}

// Pads that keep the size are other ones in runtimes than in the standard where windows are dilated.
static void lp_pool(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    bool rounds_up = int_attribute(c, "ceil_mode", 0) != 0,
         is_valid = text_attribute_is(c, "auto_pad", "VALID", "NOTSET");
    bool keeps_size = text_attribute_is(c, "auto_pad", "SAME_UPPER", "NOTSET") ||
                      text_attribute_is(c, "auto_pad", "SAME_LOWER", "NOTSET");
    struct sliding s;
    if (!find_sliding_of_pool(c, x, &s) || !(is_valid || keeps_size || has_numbers_as_pads(c)) ||
        (keeps_size && is_dilated(&s)))
        return;
    if (is_valid)
        s.pads.count = 0;
    set_image(c, types, x, x->dim[1], &s, keeps_size ? size_of_same : rounds_up ? size_rounded_up : size_after_sliding);
}

static void max_unpool(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    const int64_t *sizes;
    uint32_t count;
    struct sliding s;
    if (!find_sliding_of_pool(c, x, &s) || !has_numbers_as_pads(c))
        return;
    if (input_of(c, 2) == NO_TENSOR)
        set_image(c, types, x, x->dim[1], &s, size_before_sliding);
    else if (constant_sizes(c, 2, &sizes, &count) && count == (uint32_t)x->rank && sizes[0] == x->dim[0] &&
             sizes[1] == x->dim[1])
        set_type(c, types, 0, type_make(x->dtype, x->rank, sizes));
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

// The offsets have a place for each entry that is made.
static void deform_conv(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *k = known_input(c, 1), *offsets = known_input(c, 2);
    if (!x || !k || !offsets || x->rank != 4 || k->rank != 4 || offsets->rank != 4)
        return;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], k->dim[0], offsets->dim[2], offsets->dim[3]}));
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

const struct typing typings_of_windows[] = {
    {"AffineGrid", affine_grid},
    {"ConvTranspose", conv_transpose},
    {"DeformConv", deform_conv},
    {"GlobalLpPool", global_pool},
    {"GridSample", grid_sample},
    {"LpPool", lp_pool},
    {"MaxRoiPool", roi_align},
    {"MaxUnpool", max_unpool},
    {"RoiAlign", roi_align},
    {"QLinearGlobalAveragePool", global_pool, MICROSOFT},
    {0},
};
