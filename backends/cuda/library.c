// Epilogues that the libraries take are   [+ bias along the channels]  [+ a tensor of the result's layout]  [relu, or
// for products gelu by tanh]. Everything else stays outside.
#include "backends/cuda/library.h"

#include "backends/planning/planner.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "backends/planning/postops.h"
#include <string.h>

// --- what is shared --------------------------------------------------------------------------------------------------

static bool find_type(enum dtype dtype, enum gpu_type *ret_type)
{
    if (dtype != DTYPE_F32 && dtype != DTYPE_F16 && dtype != DTYPE_BF16)
        return false;
    *ret_type = dtype == DTYPE_F32 ? GPU_F32 : dtype == DTYPE_F16 ? GPU_F16 : GPU_BF16;
    return true;
}

// Memories are aligned to 64 bytes or more; a view's offset may leave less.
static int alignment_of(const struct view *v)
{
    int64_t bytes = v->offset * (int64_t)dtype_size(v->dtype);
    int alignment = 16;
    while (bytes % alignment)
        alignment /= 2;
    return alignment;
}

struct fused {
    const struct loop_access *bias, *residual;
    enum gpu_activation activation;
};

static bool read_activation(const struct postop *op, bool takes_gelu, enum gpu_activation *ret_activation)
{
    if (op->kind != POSTOP_RELU && !(op->kind == POSTOP_GELU_TANH && takes_gelu))
        return false;
    *ret_activation = op->kind == POSTOP_RELU ? GPU_RELU : GPU_GELU_TANH;
    return true;
}

static bool is_sum_with(const struct postops *ops, int i, enum postop_operand operand)
{
    return i < ops->n && ops->items[i].kind == POSTOP_ADD && ops->items[i].operand == operand;
}

static bool is_aligned(const struct loop_access *a)
{
    return a->offset * (int64_t)dtype_size(a->dtype) % 16 == 0;
}

static bool read_epilogue(const struct graph *g, const struct step *step, const struct loop *loop, int channel_axis,
                          bool takes_gelu, struct fused *ret_fused)
{
    struct fused fused = {.activation = GPU_NO_ACTIVATION};
    struct postops ops = {.n = 0};
    int at = 0;
    bool has_relu = node_attribute(&g->nodes.items[step->node], ROLE_ACTIVATION)->ints[0] != 0;
    if (loop && !postops_from_epilogue(loop, channel_axis, &ops))
        return false;
    if (has_relu && ops.n)
        return false;
    if (is_sum_with(&ops, at, OPERAND_CHANNEL))
        fused.bias = &loop->operands[ops.items[at++].operand_number];
    if (is_sum_with(&ops, at, OPERAND_FULL))
        fused.residual = &loop->operands[ops.items[at++].operand_number];
    if (!fused.bias && is_sum_with(&ops, at, OPERAND_CHANNEL))
        fused.bias = &loop->operands[ops.items[at++].operand_number];
    if (at < ops.n && read_activation(&ops.items[at], takes_gelu, &fused.activation))
        at++;
    if (has_relu)
        fused.activation = GPU_RELU;
    *ret_fused = fused;
    return at == ops.n && (!fused.residual || is_aligned(fused.residual)) && (!fused.bias || is_aligned(fused.bias));
}

// The full operand of an epilogue.
static struct view view_of_access(const struct loop_access *a, const struct view *result)
{
    struct view v = *result;
    v.memory = a->memory;
    v.offset = a->offset;
    v.dtype = a->dtype;
    memcpy(v.stride, a->stride, sizeof v.stride[0] * (size_t)v.rank);
    return v;
}

static const struct loop *epilogue_of(const struct step *step)
{
    return step->n_loops ? &step->loops[0] : NULL;
}

// --- convolution -----------------------------------------------------------------------------------------------------

// Channels last is what tensor cores want; without them the plain order is as good, and what surrounds it is in it.
static enum layout layout_of_images(enum dtype dtype, bool allows_tf32)
{
    return dtype == DTYPE_F32 && !allows_tf32 ? LAYOUT_ROWS : LAYOUT_CHANNELS_LAST;
}

bool cuda_claim_conv(const struct cuda_backend *b, struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const tensor_id *inputs = graph_inputs(g, node);
    const struct type *type = graph_type(g, n->first_output);
    enum gpu_type ignored;
    if (!find_type(type->dtype, &ignored) || type->rank > 5 || !type_elements(graph_type(g, inputs[0])) ||
        !type_elements(graph_type(g, inputs[1])))
        return false;
    enum layout layout = planner_choose(p, n->first_output, planner_layouts(p, node),
                                        layout_of_images(type->dtype, b->base.options.allows_tf32));
    struct view operands[2] = {planner_dense_or_part(p, inputs[0], layout), planner_dense(p, inputs[1], layout)};
    struct view result = planner_allocate_chosen(p, n->first_output, type, layout);
    planner_add_step(p, &cuda_kernel_conv, node, 2, operands, 1, &result);
    return true;
}

// Pixels of the whole must begin at addresses that suit an engine, where channels stand last.
bool cuda_conv_writes_part(const struct planner *p, node_id node, const struct view *part)
{
    return view_has_layout(part, LAYOUT_ROWS) || view_has_layout(part, LAYOUT_CHANNELS_LAST)
               ? alignment_of(part) == 16
               : view_is_part(part, LAYOUT_ROWS) || view_is_part(part, LAYOUT_CHANNELS_LAST);
}

// Fused engines want a residual to stand exactly as the result.
static bool accepts_behind_conv(const struct planner *p, const struct step *step, const struct loop *loop)
{
    struct fused fused;
    return read_epilogue(planner_graph(p), step, loop, 1, false, &fused) &&
           (!fused.residual ||
            memcmp(fused.residual->stride, loop->results[0].to.stride, sizeof fused.residual->stride) == 0);
}

// A signal is an image one row high: the library knows no less.
static struct gpu_tensor image_of(const struct view *v)
{
    struct gpu_tensor t = {.rank = v->rank, .alignment = alignment_of(v)};
    memcpy(t.dim, v->dim, sizeof v->dim);
    memcpy(t.stride, v->stride, sizeof v->stride);
    for (int i = 0; i < v->rank; i++)
        t.stride[i] = v->stride[i] ? v->stride[i] : 1;
    if (v->rank != 3)
        return t;
    t.rank = 4;
    t.dim[3] = t.dim[2];
    t.stride[3] = t.stride[2];
    t.dim[2] = 1;
    t.stride[2] = t.dim[3] * t.stride[3];
    return t;
}

static void read_window(const struct node *n, int spatial, struct gpu_conv *c)
{
    const struct attribute_value *stride = node_attribute(n, ROLE_STRIDE), *pad = node_attribute(n, ROLE_WINDOW_PADS),
                                 *dilation = node_attribute(n, ROLE_DILATION);
    int first = spatial == 1;
    c->stride[0] = c->dilation[0] = 1;
    for (int i = 0; i < spatial; i++) {
        c->stride[first + i] = stride->count ? stride->ints[i] : 1;
        c->dilation[first + i] = dilation->count ? dilation->ints[i] : 1;
        c->pad_begin[first + i] = pad->count ? pad->ints[i] : 0;
        c->pad_end[first + i] = pad->count ? pad->ints[spatial + i] : 0;
    }
}

static bool read_conv(const struct plan *plan, const struct step *step, bool allows_tf32, struct library_step *s)
{
    const struct node *n = &plan->graph->nodes.items[step->node];
    struct fused fused;
    struct gpu_conv *c = &s->conv;
    if (!find_type(s->z.dtype, &c->type) || !read_epilogue(plan->graph, step, epilogue_of(step), 1, false, &fused))
        return false;
    c->allows_tf32 = allows_tf32;
    c->x = image_of(&s->x);
    c->w = image_of(&s->y);
    c->z = image_of(&s->z);
    c->groups = node_attribute(n, ROLE_GROUPS)->ints[0];
    read_window(n, s->x.rank - 2, c);
    // The fused engines that are there before any compilation want a bias.
    s->has_zero_bias = !fused.bias && (fused.residual || fused.activation) &&
                       (size_t)s->z.dim[1] * dtype_size(s->z.dtype) <= ZERO_BYTES;
    s->bias = fused.bias;
    s->residual = fused.residual;
    c->has_bias = fused.bias || s->has_zero_bias;
    c->has_residual = fused.residual != NULL;
    c->activation = fused.activation;
    return true;
}

// --- matrix products -------------------------------------------------------------------------------------------------

// A view as `batches` matrices at equal distances, one stride of which is 1.
static bool as_matrices(const struct view *v, int64_t rows, int64_t columns, int64_t batches, struct gpu_matrix *ret)
{
    struct view flat;
    int64_t dim[3] = {batches, rows, columns};
    if (!view_reshape(v, 3, dim, &flat))
        return false;
    struct gpu_matrix m = {.row_stride = flat.stride[1],
                           .column_stride = flat.stride[2],
                           .batch_stride = flat.stride[0],
                           .alignment = alignment_of(v)};
    if (rows == 1)
        m.row_stride = m.column_stride == 1 || columns == 1 ? columns : 1;
    if (columns == 1)
        m.column_stride = m.row_stride == 1 && rows > 1 ? rows : 1;
    bool is_by_rows = m.column_stride == 1 && m.row_stride >= columns;
    bool is_by_columns = m.row_stride == 1 && m.column_stride >= rows;
    *ret = m;
    return is_by_rows || is_by_columns;
}

struct shape_of_product {
    int64_t m, n, k, batches;
};

// With a y that is shared by the batch all batch axes of x are rows.
static struct shape_of_product shape_of(const struct type *x, const struct type *y)
{
    struct shape_of_product s = {x->dim[x->rank - 2], y->dim[y->rank - 1], x->dim[x->rank - 1], 1};
    for (int i = 0; i < x->rank - 2; i++)
        *(y->rank == 2 ? &s.m : &s.batches) *= x->dim[i];
    return s;
}

// The result in rows or in columns.
static bool as_result(const struct view *v, const struct shape_of_product *s, struct gpu_matrix *ret)
{
    if (!as_matrices(v, s->m, s->n, s->batches, ret))
        return false;
    if (s->n == 1)
        ret->column_stride = 1;
    if (s->m == 1 && ret->column_stride == 1)
        ret->row_stride = s->n;
    return true;
}

// Layouts in which the result is one matrix for each batch.
static unsigned layouts_of_product(const struct planner *p, node_id node, const struct type *type,
                                   const struct shape_of_product *s)
{
    unsigned mask = planner_layouts(p, node);
    struct gpu_matrix ignored;
    for (enum layout l = 0; l < LAYOUT_COUNT; l++) {
        struct view v = view_dense(NO_MEMORY, type, l);
        if ((mask & LAYOUT_BIT(l)) && !as_result(&v, s, &ignored))
            mask &= ~LAYOUT_BIT(l);
    }
    return mask;
}

static struct view matrix_operand(struct planner *p, tensor_id t, int64_t rows, int64_t columns, int64_t batches)
{
    struct gpu_matrix ignored;
    struct view v = planner_view(p, t, LAYOUT_ROWS);
    return as_matrices(&v, rows, columns, batches, &ignored) ? v : planner_dense_instead(p, t, LAYOUT_ROWS);
}

bool cuda_claim_product(const struct cuda_backend *b, struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const tensor_id *inputs = graph_inputs(g, node);
    const struct type *x = graph_type(g, inputs[0]), *y = graph_type(g, inputs[1]);
    const struct type *type = graph_type(g, n->first_output);
    enum gpu_type ignored;
    struct shape_of_product s = shape_of(x, y);
    if (!find_type(type->dtype, &ignored) || s.k == 0)
        return false;
    struct view operands[2] = {matrix_operand(p, inputs[0], s.m, s.k, s.batches),
                               matrix_operand(p, inputs[1], s.k, s.n, s.batches)};
    enum layout layout = planner_choose(p, n->first_output, layouts_of_product(p, node, type, &s), LAYOUT_ROWS);
    struct view result = planner_allocate_chosen(p, n->first_output, type, layout);
    planner_add_step(p, &cuda_kernel_product, node, 2, operands, 1, &result);
    return true;
}

// Rows (columns) must begin at addresses that are no worse than those of a result that stands alone.
bool cuda_product_writes_part(const struct planner *p, node_id node, const struct view *part)
{
    const struct graph *g = planner_graph(p);
    const tensor_id *inputs = graph_inputs(g, node);
    struct shape_of_product s = shape_of(graph_type(g, inputs[0]), graph_type(g, inputs[1]));
    int64_t unit = 16 / (int64_t)dtype_size(part->dtype);
    struct gpu_matrix m;
    bool is_matrix = as_result(part, &s, &m) && alignment_of(part) == 16, is_by_rows = m.column_stride == 1;
    return is_matrix &&
           ((is_by_rows ? m.row_stride : m.column_stride) % unit == 0 || (is_by_rows ? s.n : s.m) % unit != 0);
}

static bool accepts_behind_product(const struct planner *p, const struct step *step, const struct loop *loop)
{
    struct fused ignored;
    return read_epilogue(planner_graph(p), step, loop, loop->rank - 1, true, &ignored);
}

static bool is_by_columns(const struct gpu_matrix *m)
{
    return m->column_stride != 1;
}

static struct gpu_matrix turned(const struct gpu_matrix *m)
{
    struct gpu_matrix t = *m;
    t.row_stride = m->column_stride;
    t.column_stride = m->row_stride;
    return t;
}

// A result in columns is z' = y' * x' in rows, where the bias runs along the rows.
static void exchange_operands(struct library_step *s)
{
    struct gpu_product *p = &s->product, q = *p;
    struct view x = s->x;
    p->m = q.n;
    p->n = q.m;
    p->x = turned(&q.y);
    p->y = turned(&q.x);
    p->z = turned(&q.z);
    p->residual = turned(&q.residual);
    p->is_bias_of_rows = q.has_bias;
    s->x = s->y;
    s->y = x;
}

static bool read_product(const struct plan *plan, const struct step *step, bool allows_tf32, struct library_step *s)
{
    struct gpu_product *product = &s->product;
    struct type x = type_make(s->x.dtype, s->x.rank, s->x.dim), y = type_make(s->y.dtype, s->y.rank, s->y.dim);
    struct shape_of_product shape = shape_of(&x, &y);
    struct fused fused;
    if (!find_type(s->z.dtype, &product->type) ||
        !read_epilogue(plan->graph, step, epilogue_of(step), s->z.rank - 1, true, &fused) ||
        !as_matrices(&s->x, shape.m, shape.k, shape.batches, &product->x) ||
        !as_matrices(&s->y, shape.k, shape.n, shape.batches, &product->y) || !as_result(&s->z, &shape, &product->z))
        return false;
    if (fused.residual) {
        struct view residual = view_of_access(fused.residual, &s->z);
        if (!as_result(&residual, &shape, &product->residual) ||
            is_by_columns(&product->residual) != is_by_columns(&product->z))
            return false;
    }
    product->allows_tf32 = allows_tf32;
    product->m = shape.m;
    product->n = shape.n;
    product->k = shape.k;
    product->batches = shape.batches;
    s->bias = fused.bias;
    s->residual = fused.residual;
    product->has_bias = fused.bias != NULL;
    product->has_residual = fused.residual != NULL;
    product->activation = fused.activation;
    if (is_by_columns(&product->z))
        exchange_operands(s);
    return true;
}

// --- kernels and claims ----------------------------------------------------------------------------------------------

const struct kernel cuda_kernel_conv = {.name = "conv", .accepts_epilogue = accepts_behind_conv};
const struct kernel cuda_kernel_product = {.name = "product", .accepts_epilogue = accepts_behind_product};

bool cuda_is_library_step(const struct step *step)
{
    return step->kernel == &cuda_kernel_conv || step->kernel == &cuda_kernel_product;
}

bool library_step_read(const struct plan *plan, const struct step *step, bool allows_tf32,
                       struct library_step *ret_step)
{
    struct library_step s = {.is_conv = step->kernel == &cuda_kernel_conv,
                             .x = step->operands[0],
                             .y = step->operands[1],
                             .z = step->results[0]};
    bool is_read = s.is_conv ? read_conv(plan, step, allows_tf32, &s) : read_product(plan, step, allows_tf32, &s);
    *ret_step = s;
    return is_read;
}

struct library_step library_step_bare(const struct library_step *s)
{
    struct library_step bare = *s;
    bare.has_zero_bias = bare.conv.has_bias = bare.product.has_bias = bare.product.is_bias_of_rows = false;
    bare.conv.has_residual = bare.product.has_residual = false;
    bare.conv.activation = bare.product.activation = GPU_NO_ACTIVATION;
    bare.bias = bare.residual = NULL;
    return bare;
}
