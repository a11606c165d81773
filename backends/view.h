// Where the entries of a tensor stand in memory: any affine arrangement over one piece of memory.
//     entry [i0, i1, ...] stands at   offset + i0 * stride[0] + i1 * stride[1] + ...     counted in elements
// Transposing, slicing, splitting, broadcasting and most reshapes only change the view: they cost nothing. The layouts
// of images are views too: channels last is stride 1 on axis 1.
#ifndef BACKENDS_VIEW_H
#define BACKENDS_VIEW_H
#include "operators/type.h"

typedef uint32_t memory_id;   // a piece of memory of a plan
#define NO_MEMORY UINT32_MAX

enum layout {
    LAYOUT_ROWS,            // row-major: the last axis has stride 1
    LAYOUT_CHANNELS_LAST,   // axis 1 of three or more has stride 1, the others are row-major
    LAYOUT_COUNT,
    LAYOUT_ANY = LAYOUT_COUNT,   // whatever suits best
};
struct view {
    memory_id memory;
    enum dtype dtype;
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    int64_t offset;
};

struct view view_dense(memory_id memory, const struct type *type, enum layout layout);
// Does the view have exactly these strides (axes of size 1 aside)? The offset does not matter.
bool view_has_layout(const struct view *v, enum layout layout);
// The view with other dimensions over the same entries in row-major order; false when strides cannot express that.
bool view_reshape(const struct view *v, int rank, const int64_t *dim, struct view *ret_view);
// Strides that put entries densely in the order in which `v` has its axes; false when v is not dense itself.
bool view_dense_like(const struct view *v, struct view *ret_dense);
int64_t view_elements(const struct view *v);
#endif
