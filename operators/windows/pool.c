// poolavg and poolmax: mean and maximum over windows of an image.
//     poolmax  z[n,c,i,j] = max(r,s) x[n, c, i*sh + r*dh - pt, j*sw + s*dw - pl]            places outside do not count
//     poolavg  z[n,c,i,j] = sum(r,s) x[n, c, ...] / (number of places that count)
// Every window has a place that counts, or there would be no maximum and no mean: pads are smaller than windows, and
// the steps of a dilation no larger than the image. With :padding counted the mean counts the places in the pads too
// (as zeros), so it divides by the kernel's size.
#include "operators/elementwise/fused_activation.h"
#include "operators/operator.h"
#include "operators/windows/window.h"

enum { KERNEL, STRIDE, PAD, DILATION, ACT, PADDING };
enum { PADDING_IGNORED, PADDING_COUNTED };
static const char *const padding_names[] = {"ignored", "counted", NULL};

// Does a window that begins in the pad end there, too?
static bool is_in_pad(int64_t pad, int64_t kernel, int64_t dilation)
{
    return pad > 0 && kernel <= (pad - 1) / dilation + 1;
}

// Other faults of the lists are told by the image as well.
static bool refuses_pads(const struct attribute_value *attributes)
{
    const struct attribute_value *kernel = &attributes[KERNEL], *pad = &attributes[PAD];
    const struct attribute_value *dilation = &attributes[DILATION];
    bool has_dilation = dilation->count == kernel->count, are_in_pad = false;
    for (uint32_t a = 0; pad->count == 2 * kernel->count && a < pad->count; a++) {
        int64_t step = has_dilation ? dilation->ints[a % kernel->count] : 1;
        are_in_pad = are_in_pad || step < 1 || is_in_pad(pad->ints[a], kernel->ints[a % kernel->count], step);
    }
    return are_in_pad;
}

static bool read_pool_window(struct definition *d, const struct operator_call *call, struct window *ret_window)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *kernel = &call->attributes[KERNEL];
    if (x->rank < 3 || kernel->count != (uint32_t)x->rank - 2)
        return refuse(d, "pooling needs an image and a window size for each spatial axis");
    if (!window_read(d, x, kernel->ints, &call->attributes[STRIDE], &call->attributes[PAD], &call->attributes[DILATION],
                     ret_window))
        return false;
    for (int a = 0; a < ret_window->n; a++) {
        int64_t size = ret_window->kernel[a], step = ret_window->dilation[a];
        bool spans_image = size > 1 && step > x->dim[2 + a];
        if (is_in_pad(ret_window->pad_begin[a], size, step) || is_in_pad(ret_window->pad_end[a], size, step) ||
            x->dim[2 + a] == 0 || spans_image)
            return refuse(d, "pooling needs windows that meet the image");
    }
    return true;
}

static int add_pool_output(struct definition *d, const struct window *w)
{
    const struct type *x = &d->inputs[0];
    int64_t dim[MAX_RANK] = {x->dim[0], x->dim[1]};
    for (int a = 0; a < w->n; a++)
        dim[2 + a] = w->output[a];
    return output_add(d, x->dtype, x->rank, dim);
}

static expr read_place(struct definition *d, int z, const struct window *w, const expr *r, enum outside outside)
{
    expr index[MAX_RANK] = {stage_index(d, z, 0), stage_index(d, z, 1)};
    for (int a = 0; a < w->n; a++)
        index[2 + a] = window_place(d, w, a, stage_index(d, z, 2 + a), r[a]);
    return scalar_read_or(d, 0, index, outside);
}

static void fresh_window_variables(struct definition *d, const struct window *w, expr *ret_r)
{
    for (int a = 0; a < w->n; a++)
        ret_r[a] = reduce_variable(d, w->kernel[a]);
}

static bool define_poolmax(struct definition *d, const struct operator_call *call)
{
    struct window w;
    if (!dtype_is_number(call->inputs[0].dtype))
        return refuse(d, "poolmax needs numbers");
    if (!read_pool_window(d, call, &w))
        return false;
    int z = add_pool_output(d, &w);
    expr r[MAX_RANK];
    fresh_window_variables(d, &w, r);
    expr maximum = window_reduce(d, &w, FN_MAX, r, read_place(d, z, &w, r, OUTSIDE_LOWEST));
    stage_set_body(d, z, activation_apply(d, (enum activation)call_int(call, ACT), maximum));
    return true;
}

// The number of elements of the window at output place i that stand inside of the image, on one axis.
static expr count_inside(struct definition *d, int z, const struct window *w, int axis)
{
    expr r = reduce_variable(d, w->kernel[axis]);
    expr place = window_place(d, w, axis, stage_index(d, z, 2 + axis), r);
    expr one = scalar_real(d, 1), zero = scalar_real(d, 0);
    expr room = index_offset(d, index_mul(d, place, -1), d->inputs[0].dim[2 + axis] - 1);
    return scalar_reduce(d, FN_ADD, r, scalar_select(d, place, scalar_select(d, room, one, zero), zero));
}

static bool reaches_pads(const struct window *w, const struct type *x, int a)
{
    int64_t last = (w->output[a] - 1) * w->stride[a] + (w->kernel[a] - 1) * w->dilation[a] - w->pad_begin[a];
    return w->pad_begin[a] > 0 || last >= x->dim[2 + a];
}

static expr count_places(struct definition *d, int z, const struct window *w, int64_t padding)
{
    double kernel_size = 1;
    expr varying = 0;
    bool is_varying = false;
    for (int a = 0; a < w->n; a++) {
        if (padding == PADDING_COUNTED || !reaches_pads(w, &d->inputs[0], a)) {
            kernel_size *= (double)w->kernel[a];
            continue;
        }
        expr inside = count_inside(d, z, w, a);
        varying = is_varying ? scalar_mul(d, varying, inside) : inside;
        is_varying = true;
    }
    expr fixed = scalar_real(d, kernel_size);
    return is_varying ? scalar_mul(d, varying, fixed) : fixed;
}

static bool define_poolavg(struct definition *d, const struct operator_call *call)
{
    struct window w;
    if (!dtype_is_float(call->inputs[0].dtype))
        return refuse(d, "poolavg needs a floating-point image");
    if (!read_pool_window(d, call, &w))
        return false;
    int z = add_pool_output(d, &w);
    expr r[MAX_RANK];
    fresh_window_variables(d, &w, r);
    expr sum = window_reduce(d, &w, FN_ADD, r, read_place(d, z, &w, r, OUTSIDE_ZERO));
    expr mean = scalar_div(d, sum, count_places(d, z, &w, call_int(call, PADDING)));
    stage_set_body(d, z, activation_apply(d, (enum activation)call_int(call, ACT), mean));
    return true;
}

#define WINDOW_ATTRIBUTES                                                                                              \
    [KERNEL] = {.name = "kernel", .kind = ATTRIBUTE_INTS, .role = ROLE_KERNEL, .is_required = true},                   \
    [STRIDE] = {.name = "stride", .kind = ATTRIBUTE_INTS, .role = ROLE_STRIDE},                                        \
    [PAD] = {.name = "pad", .kind = ATTRIBUTE_INTS, .role = ROLE_WINDOW_PADS},                                         \
    [DILATION] = {.name = "dilation", .kind = ATTRIBUTE_INTS, .role = ROLE_DILATION}, [ACT] = ACTIVATION_ATTRIBUTE

const struct operator operator_poolmax = {
    .id = OP_POOLMAX,
    .name = "poolmax",
    .onnx = "MaxPool, GlobalMaxPool",
    .summary = "maximum over windows",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {WINDOW_ATTRIBUTES},
    .define = define_poolmax,
    .refuses = refuses_pads,
    .resolve = window_resolve,
};

const struct operator operator_poolavg = {
    .id = OP_POOLAVG,
    .name = "poolavg",
    .onnx = "AveragePool, GlobalAveragePool",
    .summary = "mean over windows",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {WINDOW_ATTRIBUTES, [PADDING] = {.name = "padding",
                                                   .kind = ATTRIBUTE_CHOICE,
                                                   .role = ROLE_PADDING,
                                                   .choices = padding_names}},
    .define = define_poolavg,
    .refuses = refuses_pads,
    .resolve = window_resolve,
};
