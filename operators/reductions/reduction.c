// Stages along some axes, and reading them back at places of the whole shape.
#include "operators/reductions/reduction.h"

uint32_t axes_from(int first, int rank)
{
    uint32_t axes = 0;
    for (int i = first; i < rank; i++)
        axes |= 1u << i;
    return axes;
}

static bool has_axis(uint32_t axes, int axis)
{
    return axes >> axis & 1;
}

int reduced_shape(const struct type *x, uint32_t axes, enum reduced_axes reduced, int64_t *ret_dim)
{
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!has_axis(axes, i))
            ret_dim[rank++] = x->dim[i];
        else if (reduced == REDUCED_AXES_KEPT)
            ret_dim[rank++] = 1;
    return rank;
}

struct reduction reduction_begin(struct definition *d, int stage, const struct type *x, uint32_t axes,
                                 enum reduced_axes reduced)
{
    struct reduction r = {.stage = stage, .places = 1};
    int axis_of_stage = 0;
    for (int i = 0; i < x->rank; i++) {
        bool is_reduced = has_axis(axes, i);
        if (is_reduced) {
            r.places *= x->dim[i];
            r.index[i] = r.variable[r.n++] = reduce_variable(d, x->dim[i]);
        } else
            r.index[i] = stage_index(d, stage, axis_of_stage);
        axis_of_stage += !is_reduced || reduced == REDUCED_AXES_KEPT;
    }
    return r;
}

expr reduction_finish(struct definition *d, const struct reduction *r, enum scalar_function fn, expr body)
{
    for (int i = r->n; i-- > 0;)
        body = scalar_reduce(d, fn, r->variable[i], body);
    return body;
}

expr reduction_mean(struct definition *d, const struct reduction *r, expr body)
{
    return scalar_div(d, reduction_finish(d, r, FN_ADD, body), scalar_real(d, (double)r->places));
}

expr read_on_axes(struct definition *d, int tensor, int z, uint32_t axes)
{
    expr index[MAX_RANK];
    int rank = definition_tensor(d, z)->rank, n = 0;
    for (int i = 0; i < rank; i++)
        if (has_axis(axes, i))
            index[n++] = stage_index(d, z, i);
    return scalar_read(d, tensor, index);
}

expr read_reduced(struct definition *d, int tensor, int z, uint32_t axes)
{
    return read_on_axes(d, tensor, z, ~axes);
}
