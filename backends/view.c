#include "backends/view.h"

#include <string.h>

static void strides_in_order(struct view *v, const int *order)
{
    int64_t stride = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        v->stride[order[i]] = stride;
        stride *= v->dim[order[i]] > 0 ? v->dim[order[i]] : 1;
    }
}

struct view view_dense(memory_id memory, const struct type *type, enum layout layout)
{
    struct view v = {.memory = memory, .dtype = type->dtype, .rank = type->rank};
    int order[MAX_RANK], n = 0;
    memcpy(v.dim, type->dim, sizeof v.dim);
    bool is_last = layout == LAYOUT_CHANNELS_LAST && type->rank >= 3;
    for (int i = 0; i < type->rank; i++)
        if (!is_last || i != 1)
            order[n++] = i;
    if (is_last)
        order[n++] = 1;
    strides_in_order(&v, order);
    return v;
}

bool view_has_layout(const struct view *v, enum layout layout)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    struct view dense = view_dense(v->memory, &type, layout);
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] != 1 && v->stride[i] != dense.stride[i])
            return false;
    return true;
}

int64_t view_elements(const struct view *v)
{
    int64_t elements = 1;
    for (int i = 0; i < v->rank; i++)
        elements *= v->dim[i];
    return elements;
}

// Axes that follow one another in memory as if they were one are merged: `to` gets runs of (size, stride).
struct run {
    int64_t size, stride;
};

static int merge_axes(const struct view *v, struct run *to)
{
    int n = 0;
    for (int i = 0; i < v->rank; i++) {
        if (v->dim[i] == 1)
            continue;
        if (n && to[n - 1].stride == v->stride[i] * v->dim[i]) {
            to[n - 1].size *= v->dim[i];
            to[n - 1].stride = v->stride[i];
        } else {
            to[n++] = (struct run){v->dim[i], v->stride[i]};
        }
    }
    return n;
}

// Cuts the runs, from the last axis on, into the wanted dimensions.
bool view_reshape(const struct view *v, int rank, const int64_t *dim, struct view *ret_view)
{
    struct run runs[MAX_RANK];
    struct view result = *v;
    result.rank = rank;
    if (view_elements(v) == 0)
        return false;
    int r = merge_axes(v, runs) - 1;
    for (int i = rank - 1; i >= 0; i--) {
        result.dim[i] = dim[i];
        result.stride[i] = 0;
        if (dim[i] == 1)
            continue;
        if (r >= 0 && runs[r].size == 1)
            r--;
        if (r < 0 || runs[r].size % dim[i])
            return false;
        result.stride[i] = runs[r].stride;
        runs[r].size /= dim[i];
        runs[r].stride *= dim[i];
    }
    *ret_view = result;
    return true;
}

bool view_dense_like(const struct view *v, struct view *ret_dense)
{
    int order[MAX_RANK];
    for (int i = 0; i < v->rank; i++) {
        int at = i;
        for (; at > 0 && v->stride[order[at - 1]] < v->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    struct view dense = *v;
    dense.offset = 0;
    strides_in_order(&dense, order);
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] != 1 && v->stride[i] != dense.stride[i])
            return false;
    *ret_dense = dense;
    return true;
}
