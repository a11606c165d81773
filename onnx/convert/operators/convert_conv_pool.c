// Convolution and pooling. Pads become numbers here: SAME_UPPER, SAME_LOWER, VALID and rounding up are resolved for the
// actual sizes.
#include "onnx/convert/operators/convert_conv_pool.h"

#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/operators/converters.h"

struct windows {
    int n;   // spatial axes
    int64_t kernel[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK];
    int64_t pad[2 * MAX_RANK];   // begins, then ends
    bool rounds_up;              // a window more where the last stride leaves the image
    bool is_pool;
};

static bool read_list(struct conversion *c, const char *name, int n, int64_t standard, int64_t *ret_items)
{
    return list_within(c, name, n, standard, -MAX_ELEMENTS, MAX_ELEMENTS, ret_items);
}

static int64_t reach(const struct windows *w, int a)
{
    return (w->kernel[a] - 1) * w->dilation[a] + 1;
}

// SAME: as many windows as strides fit, the pads split evenly, an odd one at the end or at the beginning.
static bool pad_to_same(struct conversion *c, struct windows *w, const struct type *x, bool is_upper)
{
    for (int a = 0; a < w->n; a++) {
        int64_t size = x->dim[2 + a], places = (size + w->stride[a] - 1) / w->stride[a];
        int64_t total = (places - 1) * w->stride[a] + reach(w, a) - size;
        if (w->is_pool && (total < 0 || w->dilation[a] != 1))
            return cannot(c, "its pads are to be found for windows of which runtimes think otherwise");
        total = total > 0 ? total : 0;
        w->pad[a] = is_upper ? total / 2 : total - total / 2;
        w->pad[w->n + a] = total - w->pad[a];
    }
    return true;
}

// Pads for all sizes: as many entries more as the last stride may need. No window begins in them if they are fewer than
// its own, and runtimes take no more.
static bool pad_for_any_size(struct conversion *c, struct windows *w, int a)
{
    int64_t *end = &w->pad[w->n + a];
    if (!w->is_pool || !axis_varies(c, input_of(c, 0), 2 + a) || w->kernel[a] < *end + w->stride[a])
        return false;
    *end += w->stride[a] - 1;
    return true;
}

// ceil_mode: the end pad that makes exactly the windows that begin inside of the image or its begin pad.
static bool pad_to_round_up(struct conversion *c, struct windows *w, const struct type *x)
{
    for (int a = 0; a < w->n; a++) {
        if (pad_for_any_size(c, w, a))
            continue;
        int64_t room = x->dim[2 + a] + w->pad[a] + w->pad[w->n + a] - reach(w, a);
        if (room < 0)
            continue;
        int64_t places = (room + w->stride[a] - 1) / w->stride[a] + 1;
        if ((places - 1) * w->stride[a] >= x->dim[2 + a] + w->pad[a])
            places--;
        w->pad[w->n + a] = (places - 1) * w->stride[a] + reach(w, a) - x->dim[2 + a] - w->pad[a];
        if (w->pad[w->n + a] >= w->kernel[a])
            return cannot(c, "a pad would have as many entries as a window");
    }
    return true;
}

static bool resolve_pads(struct conversion *c, const struct type *x, struct windows *w)
{
    bool is_upper = text_attribute_is(c, "auto_pad", "SAME_UPPER", "NOTSET");
    bool is_valid = text_attribute_is(c, "auto_pad", "VALID", "NOTSET");
    if (is_upper || text_attribute_is(c, "auto_pad", "SAME_LOWER", "NOTSET")) {
        if (!pad_to_same(c, w, x, is_upper))
            return false;
    } else if (!is_valid && !text_attribute_is(c, "auto_pad", "NOTSET", "NOTSET") &&
               !text_attribute_is(c, "auto_pad", "", "NOTSET"))
        return cannot(c, "auto_pad is none of its values");
    for (int i = 0; is_valid && i < 2 * w->n; i++)
        w->pad[i] = 0;
    return !w->rounds_up || pad_to_round_up(c, w, x);
}

// The standard lets a window that is larger than its image have no place; runtimes fail, or give it one.
static bool fit_image(const struct windows *w, const struct type *x)
{
    return !ANY(int, a, w->n, x->dim[2 + a] + w->pad[a] + w->pad[w->n + a] < reach(w, a));
}

// `kernel` is what the weights say, or NULL to read it from the attribute.
static bool read_windows(struct conversion *c, const struct type *x, const int64_t *kernel, struct windows *ret_windows)
{
    struct windows w = {.n = x->rank - 2, .rounds_up = int_attribute(c, "ceil_mode", 0) != 0, .is_pool = !kernel};
    if (w.n < 1 || w.n > MAX_RANK - 2)
        return cannot(c, "the image has rank %d", x->rank);
    for (int a = 0; kernel && a < w.n; a++)
        w.kernel[a] = kernel[a];
    if ((!kernel && !read_list(c, "kernel_shape", w.n, 0, w.kernel)) || !read_list(c, "strides", w.n, 1, w.stride) ||
        !read_list(c, "dilations", w.n, 1, w.dilation) || !read_list(c, "pads", 2 * w.n, 0, w.pad))
        return false;
    for (int a = 0; a < w.n; a++)
        if (w.kernel[a] < 1 || w.stride[a] < 1 || w.dilation[a] < 1 || w.kernel[a] > MAX_ELEMENTS / w.dilation[a])
            return cannot(c, "a window's size, stride or dilation is out of range");
    if (!resolve_pads(c, x, &w))
        return false;
    c->is_unfit |= !fit_image(&w, x);
    *ret_windows = w;
    return true;
}

tensor_id convolve_at(struct conversion *c, int n, const int64_t *strides, const int64_t *pads,
                      const int64_t *dilations, tensor_id x, tensor_id kernel)
{
    return apply(c, OP_CONV, INPUTS(x, kernel),
                 WITH(list("stride", n, strides), list("pad", 2 * n, pads), list("dilation", n, dilations),
                      integer("group", int_attribute(c, "group", 1))));
}

tensor_id convolve(struct conversion *c, tensor_id x, tensor_id kernel)
{
    struct windows w;
    if (type_of(c, kernel)->rank != type_of(c, x)->rank || type_of(c, x)->rank < 3)
        return no_tensor(c, "image and kernel differ in rank");
    if (!read_windows(c, type_of(c, x), &type_of(c, kernel)->dim[2], &w))
        return NO_TENSOR;
    return convolve_at(c, w.n, w.stride, w.pad, w.dilation, x, kernel);
}

tensor_id add_to_channels(struct conversion *c, tensor_id image, tensor_id bias)
{
    if (bias == NO_TENSOR || image == NO_TENSOR)
        return image;
    if (type_of(c, bias)->rank != 1)
        return no_tensor(c, "the bias is no vector");
    return binary(c, OP_EWADD, image, spread_along(c, bias, 1, image));
}

bool convert_conv(struct conversion *c)
{
    return give(c, 0, add_to_channels(c, convolve(c, input_of(c, 0), input_of(c, 1)), input_of(c, 2)));
}

// The next attribute, or {0}.
static bool give_pool(struct conversion *c, enum operator_id op, const struct windows *w, struct given_attribute more)
{
    return give(c, 0,
                apply(c, op, 1, c->inputs,
                      WITH(list("kernel", w->n, w->kernel), list("stride", w->n, w->stride),
                           list("pad", 2 * w->n, w->pad), list("dilation", w->n, w->dilation), more)));
}

bool convert_max_pool(struct conversion *c)
{
    struct windows w;
    if (wants_output(c, 1))
        return cannot(c, "the places of the maxima are used");
    if (!read_windows(c, type_of(c, input_of(c, 0)), NULL, &w))
        return false;
    return give_pool(c, OP_POOLMAX, &w, (struct given_attribute){0});
}

bool convert_average_pool(struct conversion *c)
{
    struct windows w;
    bool counts_pads = int_attribute(c, "count_include_pad", 0) != 0;
    if (!read_windows(c, type_of(c, input_of(c, 0)), NULL, &w))
        return false;
    if (counts_pads && w.rounds_up)
        return cannot(c, "it counts pads and rounds up");
    return give_pool(c, OP_POOLAVG, &w, integer("padding", counts_pads));
}

bool convert_global_pool(struct conversion *c)
{
    const struct type *x = type_of(c, input_of(c, 0));
    struct windows w = {.n = x->rank - 2};
    if (w.n < 1 || w.n > MAX_RANK - 2)
        return cannot(c, "the image has rank %d", x->rank);
    for (int i = 0; i < w.n; i++) {
        w.kernel[i] = x->dim[2 + i];
        w.stride[i] = w.dilation[i] = 1;
    }
    return give_pool(c, (enum operator_id)c->parameter, &w, (struct given_attribute){0});
}
