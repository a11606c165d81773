// mixedpool: maxima over windows along the first two spatial axes, sums along further ones: spatial axes that are not alike.
#include "operators/extra_operators.h"
#include "operators/windows/window.h"

enum { KERNEL, STRIDE };

static bool read_window(struct definition *d, const struct operator_call *call, struct window *ret)
{
    static const struct attribute_value none = {0};
    const struct type *x = &call->inputs[0];
    const struct attribute_value *kernel = &call->attributes[KERNEL];
    if (!dtype_is_float(x->dtype) || x->rank < 3 || kernel->count != (uint32_t)x->rank - 2)
        return refuse(d, "mixedpool needs an image of floating-point numbers and a size for each spatial axis");
    return window_read(d, x, kernel->ints, &call->attributes[STRIDE], &none, &none, ret);
}

static bool define_mixedpool(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t dim[MAX_RANK] = {x->dim[0], x->dim[1]};
    struct window w;
    expr r[MAX_RANK];
    if (!read_window(d, call, &w))
        return false;
    for (int a = 0; a < w.n; a++)
        dim[2 + a] = w.output[a];
    int z = output_add(d, x->dtype, x->rank, dim);
    expr index[MAX_RANK] = {stage_index(d, z, 0), stage_index(d, z, 1)};
    for (int a = 0; a < w.n; a++)
        index[2 + a] = window_place(d, &w, a, stage_index(d, z, 2 + a), r[a] = reduce_variable(d, w.kernel[a]));
    expr body = scalar_read(d, 0, index);
    for (int a = w.n; a-- > 0;)
        body = scalar_reduce(d, a < 2 ? FN_MAX : FN_ADD, r[a], body);
    stage_set_body(d, z, body);
    return true;
}

extern const struct operator operator_mixedpool;
const struct operator operator_mixedpool = {
    .id = OP_MIXEDPOOL,
    .name = "mixedpool",
    .summary = "maxima along two axes, sums along others",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[KERNEL] = {.name = "kernel", .kind = ATTRIBUTE_INTS, .role = ROLE_KERNEL, .is_required = true},
                   [STRIDE] = {.name = "stride", .kind = ATTRIBUTE_INTS, .role = ROLE_STRIDE}},
    .define = define_mixedpool,
    .resolve = window_resolve,
};
