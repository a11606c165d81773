// The places of windows: sizes, strides, pads, dilations, and what is refused of them.
#include "operators/windows/window.h"

#include "core/memory/arena.h"

static bool has_length(struct definition *d, const char *name, const struct attribute_value *value, int length)
{
    return !(value->count != 0 && value->count != (uint32_t)length) ||
           refuse(d, "%s needs %d values, or none", name, length);
}

static bool read_axis(struct definition *d, const struct type *image, struct window *w, int a)
{
    const int64_t limit = (int64_t)1 << 31;
    if (w->kernel[a] < 1 || w->kernel[a] > limit)
        return refuse(d, "a window of size %lld", (long long)w->kernel[a]);
    if (w->stride[a] < 1 || w->stride[a] > limit || w->dilation[a] < 1 || w->dilation[a] > limit)
        return refuse(d, "stride and dilation must be positive");
    if (w->pad_begin[a] < 0 || w->pad_end[a] < 0 || w->pad_begin[a] > limit || w->pad_end[a] > limit)
        return refuse(d, "pads must not be negative");
    int64_t reach = (w->kernel[a] - 1) * w->dilation[a] + 1;
    int64_t room = image->dim[2 + a] + w->pad_begin[a] + w->pad_end[a] - reach;
    if (room < 0)
        return refuse(d, "a window of reach %lld does not fit on axis %d", (long long)reach, 2 + a);
    w->output[a] = room / w->stride[a] + 1;
    return true;
}

bool window_read(struct definition *d, const struct type *image, const int64_t *kernel,
                 const struct attribute_value *stride, const struct attribute_value *pad,
                 const struct attribute_value *dilation, struct window *ret_window)
{
    struct window w = {.n = image->rank - 2};
    if (!has_length(d, "stride", stride, w.n) || !has_length(d, "pad", pad, 2 * w.n) ||
        !has_length(d, "dilation", dilation, w.n))
        return false;
    for (int a = 0; a < w.n; a++) {
        w.kernel[a] = kernel[a];
        w.stride[a] = attribute_entry_or(stride, a, 1);
        w.dilation[a] = attribute_entry_or(dilation, a, 1);
        w.pad_begin[a] = attribute_entry_or(pad, a, 0);
        w.pad_end[a] = attribute_entry_or(pad, w.n + a, 0);
        if (!read_axis(d, image, &w, a))
            return false;
    }
    *ret_window = w;
    return true;
}

expr window_place(struct definition *d, const struct window *w, int axis, expr i, expr r)
{
    expr place = index_add(d, index_mul(d, i, w->stride[axis]), index_mul(d, r, w->dilation[axis]));
    return index_offset(d, place, -w->pad_begin[axis]);
}

expr window_reduce(struct definition *d, const struct window *w, enum scalar_function fn, const expr *r, expr body)
{
    for (int a = w->n; a-- > 0;)
        body = scalar_reduce(d, fn, r[a], body);
    return body;
}

static void fill_when_empty(struct arena *a, struct attribute_value *value, int length, int64_t standard)
{
    if (value->count)
        return;
    int64_t *ints = arena_array(a, int64_t, length);
    for (int i = 0; i < length; i++)
        ints[i] = standard;
    *value = (struct attribute_value){(uint32_t)length, ints};
}

void window_resolve(struct definition *d, const struct operator_call *call, struct attribute_value *ret_attributes)
{
    int n = d->inputs[0].rank - 2;
    fill_when_empty(d->arena, &ret_attributes[operator_find_role(call->op, ROLE_STRIDE)], n, 1);
    fill_when_empty(d->arena, &ret_attributes[operator_find_role(call->op, ROLE_WINDOW_PADS)], 2 * n, 0);
    fill_when_empty(d->arena, &ret_attributes[operator_find_role(call->op, ROLE_DILATION)], n, 1);
}
