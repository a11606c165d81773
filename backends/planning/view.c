// Strides of layouts, and which reshapes, parts and blocks of a view are views again.
#include "backends/planning/view.h"

#include "core/memory/vec.h"
#include <string.h>

static void strides_in_order(int rank, const int64_t *dim, const int *order, int64_t *ret_stride)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        ret_stride[order[i]] = stride;
        stride *= dim[order[i]] > 0 ? dim[order[i]] : 1;
    }
}

const char *layout_name(enum layout layout)
{
    static const char *const names[] = {"rows", "last", "blocks8", "blocks16", "columns", "middle", "any"};
    return names[layout];
}

int layout_block(enum layout layout)
{
    return layout == LAYOUT_BLOCKS_OF_8 ? 8 : layout == LAYOUT_BLOCKS_OF_16 ? 16 : 0;
}

static bool suits(enum layout layout, int rank, const int64_t *dim)
{
    int block = layout_block(layout);
    if (block)
        return rank >= 3 && dim[1] > 0 && dim[1] % block == 0;
    return layout == LAYOUT_ROWS || (layout == LAYOUT_CHANNELS_LAST && rank >= 3) ||
           (layout == LAYOUT_COLUMNS && rank >= 2) || (layout == LAYOUT_MIDDLE_SWAPPED && rank == 4);
}

bool layout_suits(enum layout layout, const struct type *type)
{
    return suits(layout, type->rank, type->dim);
}

// The order of axes in memory, outermost first, as row-major order with one axis moved behind another.
static void order_of_axes(enum layout layout, int rank, int *ret_order)
{
    int moved = layout == LAYOUT_COLUMNS ? rank - 2 : 1;
    int behind = layout == LAYOUT_MIDDLE_SWAPPED ? 2 : rank - 1, n = 0;
    bool is_moved = layout != LAYOUT_ROWS && moved < behind;
    for (int i = 0; i < rank; i++) {
        if (!is_moved || i != moved)
            ret_order[n++] = i;
        if (is_moved && i == behind)
            ret_order[n++] = moved;
    }
}

// Blocks are no different from a plain arrangement where there is one, or nothing stands behind the channels.
static bool put_in_blocks(int rank, const int64_t *dim, int block, int64_t *ret_stride)
{
    int64_t behind = PRODUCT_ALL(int64_t, int, i, rank - 2, dim[2 + i]);
    if (dim[1] == block || behind == 1)
        return false;
    int64_t stride = block;
    for (int i = rank - 1; i >= 2; i--) {
        ret_stride[i] = stride;
        stride *= dim[i];
    }
    ret_stride[1] = stride;
    return true;
}

// Row-major where the layout does not suit. Gives the size of blocks, of axis 1; 0: there are none.
static int find_strides(enum layout layout, int rank, const int64_t *dim, int64_t *ret_stride)
{
    int order[MAX_RANK], block = layout_block(layout);
    bool is_suited = suits(layout, rank, dim);
    order_of_axes(!is_suited ? LAYOUT_ROWS : block ? LAYOUT_CHANNELS_LAST : layout, rank, order);
    strides_in_order(rank, dim, order, ret_stride);
    return is_suited && block && put_in_blocks(rank, dim, block, ret_stride) ? block : 0;
}

static void arrange(struct view *v, enum layout layout)
{
    v->block = find_strides(layout, v->rank, v->dim, v->stride);
    v->block_axis = v->block ? 1 : 0;
}

struct view view_dense(memory_id memory, const struct type *type, enum layout layout)
{
    struct view v = {.memory = memory, .dtype = type->dtype, .rank = type->rank};
    memcpy(v.dim, type->dim, sizeof v.dim);
    arrange(&v, layout);
    return v;
}

bool view_stands_like(const struct view *a, const struct view *b)
{
    return a->block == b->block && a->block_axis == b->block_axis &&
           ALL(int, i, a->rank, a->dim[i] == 1 || a->stride[i] == b->stride[i]);
}

bool view_has_layout(const struct view *v, enum layout layout)
{
    struct view dense = *v;
    arrange(&dense, layout);
    return view_stands_like(v, &dense);
}

enum layout view_find_layout(const struct view *v, unsigned mask)
{
    for (enum layout l = 0; l < LAYOUT_COUNT; l++)
        if (((mask | LAYOUT_BIT(LAYOUT_ROWS)) & LAYOUT_BIT(l)) && view_has_layout(v, l))
            return l;
    return LAYOUT_ROWS;
}

// A part is a view as if axis 1 had as many entries as its neighbour's stride has room for.
bool view_is_part(const struct view *v, enum layout layout)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    int64_t unit = 16 / (int64_t)dtype_size(v->dtype), room = 1;
    if (v->rank < 3 || v->block || (layout != LAYOUT_ROWS && layout != LAYOUT_CHANNELS_LAST) || v->offset % unit)
        return false;
    int next =
        layout == LAYOUT_ROWS ? 0 : v->rank - 1;   // of the axes outside of the channels, the first that has a stride
    while (layout == LAYOUT_CHANNELS_LAST && next > 1 && v->dim[next] == 1)
        next--;
    next = layout == LAYOUT_CHANNELS_LAST && next == 1 ? 0 : next;
    for (int i = 2; i < v->rank; i++)
        room *= layout == LAYOUT_ROWS ? v->dim[i] : 1;
    if (v->dim[next] == 1 || v->stride[next] % room || v->stride[next] / room < v->dim[1] ||
        (layout == LAYOUT_CHANNELS_LAST && v->stride[next] % unit))
        return false;
    type.dim[1] = v->stride[next] / room;
    struct view whole = view_dense(v->memory, &type, layout);
    return view_stands_like(v, &whole);
}

int64_t view_elements(const struct view *v)
{
    return PRODUCT_ALL(int64_t, int, i, v->rank, v->dim[i]);
}

// Axes that follow one another in memory as if they were one are merged: `to` gets these.
struct merged_axis {
    int64_t size, stride;
};

static int merge_axes(const struct view *v, struct merged_axis *to)
{
    int n = 0;
    for (int i = 0; i < v->rank; i++) {
        if (v->dim[i] == 1)
            continue;
        if (n && to[n - 1].stride == v->stride[i] * v->dim[i]) {
            to[n - 1].size *= v->dim[i];
            to[n - 1].stride = v->stride[i];
        } else {
            to[n++] = (struct merged_axis){v->dim[i], v->stride[i]};
        }
    }
    return n;
}

bool view_find_rows(int rank, const int64_t *dim, const int64_t *stride, int64_t *ret_stride)
{
    int64_t places = 1;
    *ret_stride = 0;
    for (int i = rank - 2; i >= 0; i--) {
        if (dim[i] == 1)
            continue;
        if (places == 1)
            *ret_stride = stride[i];
        else if (stride[i] != *ret_stride * places)
            return false;
        places *= dim[i];
    }
    return true;
}

// Cuts merged axes, from the last one on, into the wanted dimensions.
bool view_reshape(const struct view *v, int rank, const int64_t *dim, struct view *ret_view)
{
    struct merged_axis axes[MAX_RANK];
    struct view result = *v;
    result.rank = rank;
    if (view_elements(v) == 0 || v->block)
        return false;
    int r = merge_axes(v, axes) - 1;
    for (int i = rank - 1; i >= 0; i--) {
        result.dim[i] = dim[i];
        result.stride[i] = 0;
        if (dim[i] == 1)
            continue;
        if (r >= 0 && axes[r].size == 1)
            r--;
        if (r < 0 || axes[r].size % dim[i])
            return false;
        result.stride[i] = axes[r].stride;
        axes[r].size /= dim[i];
        axes[r].stride *= dim[i];
    }
    *ret_view = result;
    return true;
}

bool view_dense_like(const struct view *v, struct view *ret_dense)
{
    int order[MAX_RANK];
    if (v->block)
        return false;
    for (int i = 0; i < v->rank; i++) {
        int at = i;
        for (; at > 0 && v->stride[order[at - 1]] < v->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    struct view dense = *v;
    dense.offset = 0;
    strides_in_order(dense.rank, dense.dim, order, dense.stride);
    *ret_dense = dense;
    return view_stands_like(v, &dense);
}

bool view_split_blocks(const struct view *v, struct view *ret_view)
{
    struct view split = *v;
    if (v->block && v->rank == MAX_RANK)
        return false;
    if (v->block) {
        int at = v->block_axis;
        memmove(&split.dim[at + 1], &v->dim[at], sizeof v->dim[0] * (size_t)(v->rank - at));
        memmove(&split.stride[at + 1], &v->stride[at], sizeof v->stride[0] * (size_t)(v->rank - at));
        split.rank++;
        split.dim[at] = v->dim[at] / v->block;
        split.stride[at] = v->stride[at];
        split.dim[at + 1] = v->block;
        split.stride[at + 1] = 1;
        split.block = split.block_axis = 0;
    }
    *ret_view = split;
    return true;
}

struct view view_part(const struct view *whole, const struct type *type, const int64_t *start)
{
    struct view v = *whole;
    memcpy(v.dim, type->dim, sizeof v.dim);
    for (int i = 0; i < v.rank; i++)
        v.offset += start[i] / (v.block && i == v.block_axis ? v.block : 1) * v.stride[i];
    if (v.block && v.dim[v.block_axis] == v.block) {
        v.stride[v.block_axis] = 1;
        v.block = v.block_axis = 0;
    }
    return v;
}
