// conv: convolution (cross-correlation) of images in NCHW order with grouped, strided, dilated kernels over any number
// of spatial axes; pads are explicit and read as 0.
//     z[n,f,i,j] = act( sum(c,r,s) x[n, (f / Fg) * Cg + c, i*sh + r*dh - pt, j*sw + s*dw - pl] * k[f,c,r,s] )
// with F output channels, G groups, Fg = F / G, Cg = C / G.
#include "operators/elementwise/fused_activation.h"
#include "operators/operator.h"
#include "operators/windows/window.h"

enum { STRIDE, PAD, DILATION, GROUP, ACT };

static bool have_matching_types(struct definition *d, const struct type *x, const struct type *k, int64_t group)
{
    if (x->dtype != k->dtype || !dtype_is_number(x->dtype))
        return refuse(d, "conv needs numbers of one element type");
    if (x->rank < 3 || k->rank != x->rank)
        return refuse(d, "conv needs an image and a kernel of one rank, from 3 on");
    if (group < 1 || x->dim[1] % group || k->dim[0] % group)
        return refuse(d, "conv needs channels that %lld groups divide", (long long)group);
    return k->dim[1] == x->dim[1] / group ||
           refuse(d, "conv needs a kernel for %lld channels in each group", (long long)(x->dim[1] / group));
}

static expr product_at(struct definition *d, int z, const struct window *w, int64_t filters_of_group, expr c,
                       const expr *r)
{
    int64_t channels_of_group = d->inputs[1].dim[1];
    expr of_x[MAX_RANK], of_k[MAX_RANK];
    expr f = stage_index(d, z, 1);
    of_x[0] = stage_index(d, z, 0);
    of_x[1] = c;
    if (d->inputs[0].dim[1] != channels_of_group)
        of_x[1] = index_add(d, index_mul(d, index_div(d, f, filters_of_group), channels_of_group), c);
    of_k[0] = f;
    of_k[1] = c;
    for (int a = 0; a < w->n; a++) {
        of_x[2 + a] = window_place(d, w, a, stage_index(d, z, 2 + a), r[a]);
        of_k[2 + a] = r[a];
    }
    return scalar_mul(d, scalar_read_or(d, 0, of_x, OUTSIDE_ZERO), scalar_read(d, 1, of_k));
}

static bool define_conv(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0], *k = &call->inputs[1];
    int64_t group = call_int(call, GROUP);
    struct window w;
    if (!have_matching_types(d, x, k, group) || !window_read(d, x, &k->dim[2], &call->attributes[STRIDE],
                                                             &call->attributes[PAD], &call->attributes[DILATION], &w))
        return false;
    int64_t dim[MAX_RANK] = {x->dim[0], k->dim[0]};
    for (int a = 0; a < w.n; a++)
        dim[2 + a] = w.output[a];
    int z = output_add(d, x->dtype, x->rank, dim);
    expr c = reduce_variable(d, k->dim[1]);
    expr r[MAX_RANK];
    for (int a = 0; a < w.n; a++)
        r[a] = reduce_variable(d, w.kernel[a]);
    int64_t filters_of_group = k->dim[0] / group > 0 ? k->dim[0] / group : 1;
    expr sum = window_reduce(d, &w, FN_ADD, r, product_at(d, z, &w, filters_of_group, c, r));
    sum = scalar_reduce(d, FN_ADD, c, sum);
    stage_set_body(d, z, activation_apply(d, (enum activation)call_int(call, ACT), sum));
    return true;
}

static uint64_t channels_of_group(const struct operator_call *call, int input)
{
    const struct type *t = &call->inputs[input];
    int64_t group = call_int(call, GROUP);
    return t->rank < 2 || group < 1 ? 0 : (uint64_t)(input == 0 ? t->dim[1] / group : t->dim[1]);
}

const struct operator operator_conv = {
    .id = OP_CONV,
    .name = "conv",
    .onnx = "Conv",
    .summary = "grouped, strided, dilated convolution with explicit pads",
    .min_inputs = 2,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[STRIDE] = {.name = "stride", .kind = ATTRIBUTE_INTS, .role = ROLE_STRIDE},
                   [PAD] = {.name = "pad", .kind = ATTRIBUTE_INTS, .role = ROLE_WINDOW_PADS},
                   [DILATION] = {.name = "dilation", .kind = ATTRIBUTE_INTS, .role = ROLE_DILATION},
                   [GROUP] = {.name = "group", .kind = ATTRIBUTE_INT, .role = ROLE_GROUPS, .standard = 1},
                   [ACT] = ACTIVATION_ATTRIBUTE},
    .define = define_conv,
    .agreement = channels_of_group,
    .resolve = window_resolve,
};
