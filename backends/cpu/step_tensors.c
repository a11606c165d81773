// Views of a step as tensors of the library, and attributes of its operator.
#include "backends/cpu/step_tensors.h"

#include "backends/planning/planner.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_views.h"
#include <string.h>

bool cpu_is_computed_in_f32(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

struct view cpu_view_in_f32(struct planner *p, tensor_id t, enum layout layout)
{
    if (graph_type(planner_graph(p), t)->dtype == DTYPE_F32)
        return planner_dense(p, t, layout);
    struct view v = planner_view(p, t, LAYOUT_ANY);
    return planner_copy(p, &v, DTYPE_F32, layout);
}

// A part of an image has the strides of the whole, which for a batch of one differ from dense strides in nothing but
// the batch's. The library's fast kernels compare all strides. An image of one pixel stands both ways: as it was made.
static struct view with_dense_strides(const struct view *v)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    struct view rows = view_dense(v->memory, &type, LAYOUT_ROWS);
    struct view last = view_dense(v->memory, &type, LAYOUT_CHANNELS_LAST);
    size_t size = (size_t)v->rank * sizeof *v->stride;
    if (memcmp(v->stride, rows.stride, size) == 0 || memcmp(v->stride, last.stride, size) == 0)
        return *v;
    return view_has_layout(v, LAYOUT_CHANNELS_LAST) ? last : view_has_layout(v, LAYOUT_ROWS) ? rows : *v;
}

struct onednn_tensor cpu_tensor_of_view(const struct view *v)
{
    struct view dense = with_dense_strides(v);
    struct onednn_tensor t = {.rank = v->rank};
    memcpy(t.dim, dense.dim, sizeof dense.dim);
    memcpy(t.stride, dense.stride, sizeof dense.stride);
    return t;
}

// An image of one block stands as if channels were last.
struct onednn_tensor cpu_tensor_of_image(const struct view *v, int block)
{
    struct onednn_tensor t = cpu_tensor_of_view(v);
    if (block && v->dim[1] % block == 0 && view_has_layout(v, block == 16 ? LAYOUT_BLOCKS_OF_16 : LAYOUT_BLOCKS_OF_8))
        t.block = block;
    return t;
}

int64_t cpu_attribute_int(const struct node *n, enum attribute_role role)
{
    return node_attribute(n, role)->ints[0];
}

struct onednn_window cpu_window_of(const struct node *n, int spatial, const int64_t *kernel)
{
    struct onednn_window w = {{0}};
    for (int i = 0; i < spatial; i++) {
        w.kernel[i] = kernel[i];
        w.stride[i] = attribute_entry_or(node_attribute(n, ROLE_STRIDE), i, 1);
        w.dilation[i] = attribute_entry_or(node_attribute(n, ROLE_DILATION), i, 1);
        w.pad_begin[i] = attribute_entry_or(node_attribute(n, ROLE_WINDOW_PADS), i, 0);
        w.pad_end[i] = attribute_entry_or(node_attribute(n, ROLE_WINDOW_PADS), spatial + i, 0);
    }
    return w;
}

double cpu_attribute_real(const struct node *n, const char *name)
{
    return real_from_bits(n->attributes[operator_find_attribute(n->op, name)].ints[0]);
}
