// squarepool: sums of squares over windows of an image.
//     z[n,c,i,j] = sum(r,s) x[n, c, i*sh + r*dh - pt, j*sw + s*dw - pl]^2
#include "operators/extra_operators.h"
#include "operators/windows/window.h"

enum { KERNEL, STRIDE, PAD, DILATION };

static expr read_place(struct definition *d, int z, const struct window *w, const expr *r)
{
    expr index[MAX_RANK] = {stage_index(d, z, 0), stage_index(d, z, 1)};
    for (int a = 0; a < w->n; a++)
        index[2 + a] = window_place(d, w, a, stage_index(d, z, 2 + a), r[a]);
    return scalar_read_or(d, 0, index, OUTSIDE_ZERO);
}

static bool define_squarepool(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *kernel = &call->attributes[KERNEL];
    struct window w;
    if (!dtype_is_number(x->dtype) || x->rank < 3 || kernel->count != (uint32_t)x->rank - 2)
        return refuse(d, "squarepool needs an image of numbers and a window size for each spatial axis");
    if (!window_read(d, x, kernel->ints, &call->attributes[STRIDE], &call->attributes[PAD], &call->attributes[DILATION],
                     &w))
        return false;
    int64_t dim[MAX_RANK] = {x->dim[0], x->dim[1]};
    expr r[MAX_RANK];
    for (int a = 0; a < w.n; a++)
        dim[2 + a] = w.output[a];
    int z = output_add(d, x->dtype, x->rank, dim);
    for (int a = 0; a < w.n; a++)
        r[a] = reduce_variable(d, w.kernel[a]);
    expr entry = read_place(d, z, &w, r);
    stage_set_body(d, z, window_reduce(d, &w, FN_ADD, r, scalar_mul(d, entry, entry)));
    return true;
}

extern const struct operator operator_squarepool;
const struct operator operator_squarepool = {
    .id = OP_SQUAREPOOL,
    .name = "squarepool",
    .summary = "sums of squares over windows",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[KERNEL] = {.name = "kernel", .kind = ATTRIBUTE_INTS, .role = ROLE_KERNEL, .is_required = true},
                   [STRIDE] = {.name = "stride", .kind = ATTRIBUTE_INTS, .role = ROLE_STRIDE},
                   [PAD] = {.name = "pad", .kind = ATTRIBUTE_INTS, .role = ROLE_WINDOW_PADS},
                   [DILATION] = {.name = "dilation", .kind = ATTRIBUTE_INTS, .role = ROLE_DILATION}},
    .define = define_squarepool,
    .resolve = window_resolve,
};
