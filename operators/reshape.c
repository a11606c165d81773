// reshape: the same entries in row-major order under another shape.
//     x's index on axis a = (z's linear index / stride of a) mod size of a
// Axes that both shapes keep in place (equal leading or trailing sizes) are indexed directly, so that their split trees
// and any proof about them carry over.
#include "operators/operator.h"

enum { SHAPE };

static int equal_leading_axes(const struct type *x, int rank, const int64_t *dim)
{
    int n = 0;
    while (n < x->rank && n < rank && x->dim[n] == dim[n])
        n++;
    return n;
}

static int equal_trailing_axes(const struct type *x, int rank, const int64_t *dim, int n_leading)
{
    int n = 0;
    while (n < x->rank - n_leading && n < rank - n_leading && x->dim[x->rank - 1 - n] == dim[rank - 1 - n])
        n++;
    return n;
}

// The row-major index over the axes from..to of z.
static expr linear_index(struct definition *d, int z, int from, int to, const int64_t *dim)
{
    expr linear = index_integer(d, 0);
    for (int i = from; i < to; i++)
        linear = index_add(d, index_mul(d, linear, dim[i]), stage_index(d, z, i));
    return linear;
}

static expr body_of_reshape(struct definition *d, int z, int rank, const int64_t *dim)
{
    const struct type *x = &d->inputs[0];
    expr index[MAX_RANK];
    int leading = equal_leading_axes(x, rank, dim);
    int trailing = equal_trailing_axes(x, rank, dim, leading);
    for (int i = 0; i < leading; i++)
        index[i] = stage_index(d, z, i);
    for (int i = 0; i < trailing; i++)
        index[x->rank - 1 - i] = stage_index(d, z, rank - 1 - i);
    expr linear = linear_index(d, z, leading, rank - trailing, dim);
    int64_t stride = 1;
    for (int i = x->rank - trailing - 1; i >= leading; i--) {
        index[i] = index_div(d, linear, stride);
        if (i > leading)
            index[i] = index_mod(d, index[i], x->dim[i]);
        stride *= x->dim[i];
    }
    return scalar_read(d, 0, index);
}

static bool define_reshape(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *shape = &call->attributes[SHAPE];
    if (shape->count > MAX_RANK)
        return refuse(d, "more than %d dimensions", MAX_RANK);
    int rank = (int)shape->count;
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) {
        if (shape->ints[i] < 0 || shape->ints[i] > MAX_ELEMENTS ||
            (shape->ints[i] && elements > MAX_ELEMENTS / shape->ints[i]))
            return refuse(d, "reshape to an impossible dimension");
        elements *= shape->ints[i];
    }
    if (elements != type_elements(x))
        return refuse(d, "reshape must keep the number of entries");
    int z = output_add(d, x->dtype, rank, shape->ints);
    stage_set_body(d, z, elements ? body_of_reshape(d, z, rank, shape->ints) : scalar_real(d, 0));
    return true;
}

const struct operator operator_reshape = {
    .id = OP_RESHAPE,
    .name = "reshape",
    .onnx = "Reshape, Flatten, Squeeze, Unsqueeze",
    .summary = "the same entries under another shape",
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = OPERATOR_IS_VIEW,
    .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS}},
    .define = define_reshape,
};
