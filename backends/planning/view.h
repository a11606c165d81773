// Views: where the entries of a tensor stand in memory, by any affine arrangement over one piece of memory.
//     entry [i0, i1, ...] stands at   offset + i0 * stride[0] + i1 * stride[1] + ...     counted in elements
// Transposing, slicing, splitting, broadcasting and most reshapes only change the view: they cost nothing. The layouts
// of images are views too: channels last is stride 1 on axis 1. One axis may stand in blocks (nChw16c):
//     entry c of that axis adds    c / block * stride + c % block
#pragma once
#include "expressions/type.h"

typedef uint32_t memory_id;   // a piece of memory of a plan
#define NO_MEMORY UINT32_MAX

enum layout {
    LAYOUT_ROWS,            // row-major: the last axis has stride 1
    LAYOUT_CHANNELS_LAST,   // axis 1 of three or more has stride 1, the others are row-major
    LAYOUT_BLOCKS_OF_8,     // axis 1 of three or more in blocks, which stand last; the others are row-major
    LAYOUT_BLOCKS_OF_16,
    LAYOUT_COLUMNS,          // the last two axes are column-major
    LAYOUT_MIDDLE_SWAPPED,   // of four axes: as if axes 1 and 2 were exchanged
    LAYOUT_COUNT,
    LAYOUT_ANY = LAYOUT_COUNT,   // whatever suits best
};
#define LAYOUT_BIT(layout) (1u << (layout))
struct view {
    memory_id memory;
    enum dtype dtype;
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    int64_t offset;
    int block, block_axis;   // entries of a block; 0: no axis stands in blocks, and block_axis is 0
};

const char *layout_name(enum layout layout);
// Can a tensor of this type be arranged so? The rank must do, and channels must fill their blocks.
bool layout_suits(enum layout layout, const struct type *type);
// Entries of a block of channels: 0 where they do not stand in blocks.
int layout_block(enum layout layout);
// A layout that does not suit the type is LAYOUT_ROWS.
struct view view_dense(memory_id memory, const struct type *type, enum layout layout);
// Does the view have exactly these strides (axes of size 1 aside)? The offset does not matter.
bool view_has_layout(const struct view *v, enum layout layout);
// The first of the mask that it has; rows where it has none.
enum layout view_find_layout(const struct view *v, unsigned mask);
// Have two views of the same dimensions the same strides (axes of size 1 aside) and blocks?
bool view_stands_like(const struct view *a, const struct view *b);
// Is it a run of channels of a tensor of that layout, at addresses that are multiples of 16 bytes, pixel by pixel where
// channels stand last? Only row-major and channels-last tensors of three axes and more are known to have such parts.
bool view_is_part(const struct view *v, enum layout layout);
// The stride of all axes but the last as one, which are the rows of a product. False: there is no such stride.
bool view_find_rows(int rank, const int64_t *dim, const int64_t *stride, int64_t *ret_stride);
// The view with other dimensions over the same entries in row-major order; false when strides cannot express that.
bool view_reshape(const struct view *v, int rank, const int64_t *dim, struct view *ret_view);
// Strides that put entries densely in the order in which `v` has its axes; false when v is not dense itself.
bool view_dense_like(const struct view *v, struct view *ret_dense);
int64_t view_elements(const struct view *v);
// The view with the axis that stands in blocks as two axes: the blocks, and within them. False when the rank is too
// large; a view without blocks is given as it is.
bool view_split_blocks(const struct view *v, struct view *ret_view);
// The part of these dimensions from `start` on. In blocks: its corner is at whole ones, and there are whole ones of it.
struct view view_part(const struct view *whole, const struct type *type, const int64_t *start);
