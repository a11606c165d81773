// Matrix products.
//
//   linear   x[M,K] · w[K,N], w a weight: packed once, with bias and activations fused by the library. All batch axes
//            of x are rows.
//   matmul   x[b...,M,K] · y[b...,K,N] of any two tensors: all products at once, where the library has a kernel for how
//            they stand, which works in memory of the model's; else one product per batch index, all of them over the
//            threads when there are enough; transposed operands and any batch strides as they are. The result may be
//            row- or column-major, or stand so that exchanging its middle axes (the heads of an attention) makes it
//            row-major.
#include "backends/cpu/epilogue.h"
#include "backends/cpu/loops/functions.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/step_tensors.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include <oneapi/dnnl/dnnl.h>
#include <stdatomic.h>

// --- linear ----------------------------------------------------------------------------------------------------------

static bool has_unit_stride(const struct view *v)
{
    int last = v->rank - 1;
    return !v->block && ((v->stride[last] == 1 && (v->stride[last - 1] >= v->dim[last] || v->dim[last - 1] == 1)) ||
                         (v->stride[last - 1] == 1 && (v->stride[last] >= v->dim[last - 1] || v->dim[last] == 1)));
}

static struct view as_rows(const struct view *v)
{
    struct view rows;
    int64_t columns = v->dim[v->rank - 1];
    int64_t dim[2] = {view_elements(v) / columns, columns};
    bool is_view = view_reshape(v, 2, dim, &rows);
    rows.rank = is_view ? 2 : 0;
    return rows;
}

static struct view dense_instead(struct planner *p, tensor_id t)
{
    return graph_type(planner_graph(p), t)->dtype == DTYPE_F32 ? planner_dense_instead(p, t, LAYOUT_ROWS)
                                                               : cpu_view_in_f32(p, t, LAYOUT_ROWS);
}

// The left operand as a matrix whose rows (or columns) are contiguous, copied when it is not.
static struct view rows_of_source(struct planner *p, tensor_id t)
{
    struct view v, rows;
    if (graph_type(planner_graph(p), t)->dtype == DTYPE_F32) {
        v = planner_view(p, t, LAYOUT_ROWS);
        rows = as_rows(&v);
        if (rows.rank == 2 && rows.stride[1] == 1 && rows.stride[0] >= rows.dim[1])
            return rows;
        if (rows.rank == 2 && rows.dim[0] == 1 && rows.stride[1] == 1) {
            rows.stride[0] = rows.dim[1];
            return rows;
        }
    }
    v = dense_instead(p, t);
    return as_rows(&v);
}

static bool claim_linear(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const tensor_id *inputs = graph_inputs(g, node);
    struct type type = *graph_type(g, n->first_output);
    struct view operands[2] = {rows_of_source(p, inputs[0]), {0}};
    operands[1] =
        type.dtype == DTYPE_F32 ? planner_view(p, inputs[1], LAYOUT_ROWS) : cpu_view_in_f32(p, inputs[1], LAYOUT_ROWS);
    if (!has_unit_stride(&operands[1]))
        operands[1] = cpu_view_in_f32(p, inputs[1], LAYOUT_ROWS);
    type.dtype = DTYPE_F32;
    struct view result = planner_allocate_chosen(p, n->first_output, &type, LAYOUT_ROWS);
    planner_add_step(p, &cpu_kernel_linear.base, node, 2, operands, 1, &result);
    return true;
}

static bool accepts_linear_epilogue(const struct planner *p, const struct step *step, const struct loop *loop)
{
    struct cpu_epilogue e;
    return cpu_read_epilogue(planner_graph(p), step, loop, loop->rank - 1, &e) &&
           ALL(int, i, e.ops.n, e.ops.items[i].operand != OPERAND_FULL || loop->rank != 0);
}

static void *prepare_linear(const struct step_request *r)
{
    struct cpu_primitive *s = arena_new(r->arena, struct cpu_primitive);
    s->source = r->step->operands[0];
    s->weights = r->step->operands[1];
    s->target = as_rows(&r->step->results[0]);
    s->has_weights = s->has_constant_weights = true;
    s->loop = r->step->n_loops ? &r->step->loops[0] : NULL;
    cpu_read_epilogue(r->plan->graph, r->step, s->loop, r->step->results[0].rank - 1, &s->epilogue);
    s->epilogue.ops.channel_axis = 1;
    s->target.stride[0] = s->target.dim[1];
    struct onednn_tensor source = cpu_tensor_of_view(&s->source), target = cpu_tensor_of_view(&s->target);
    struct onednn_tensor weights = s->plain_weights = cpu_tensor_of_view(&s->weights);
    struct onednn_tensor bias = {.rank = 2, .dim = {1, target.dim[1]}, .stride = {target.dim[1], 1}};
    weights.is_free = true;
    s->primitive = onednn_matmul(r->backend->onednn, &source, &weights, s->epilogue.bias >= 0 ? &bias : NULL, &target,
                                 &s->epilogue.ops);
    return cpu_primitive_finish(s, r);
}

const struct cpu_kernel cpu_kernel_linear = {
    .base = {.name = "linear", .accepts_epilogue = accepts_linear_epilogue},
    .prepare = prepare_linear,
    CPU_PRIMITIVE_WITH_WEIGHTS,
};

// --- matmul ----------------------------------------------------------------------------------------------------------

struct prepared_matmul {
    struct view x, y, z;
    int64_t m, n, k, n_products;
    int n_batch, threads;
    bool has_relu;
    struct cpu_behind *epilogue;            // or NULL
    struct onednn_primitive *all_at_once;   // or NULL: one by one
    char x_transposed, y_transposed, z_transposed;
    int64_t x_leading, y_leading, z_leading;
};

// A matrix in the last two axes that the library's product takes: one of them contiguous.
static struct view matrix_operand(struct planner *p, tensor_id t)
{
    if (graph_type(planner_graph(p), t)->dtype == DTYPE_F32) {
        struct view v = planner_view(p, t, LAYOUT_ROWS);
        if (has_unit_stride(&v))
            return v;
    }
    return dense_instead(p, t);
}

static bool claim_product(struct planner *p, node_id node, enum layout layout)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    struct type type = *graph_type(g, n->first_output);
    struct view operands[2] = {matrix_operand(p, graph_inputs(g, node)[0]),
                               matrix_operand(p, graph_inputs(g, node)[1])};
    type.dtype = DTYPE_F32;
    struct view result = planner_allocate_chosen(p, n->first_output, &type, layout);
    planner_add_step(p, &cpu_kernel_matmul.base, node, 2, operands, 1, &result);
    return true;
}

static bool is_linear(const struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const tensor_id *inputs = graph_inputs(g, node);
    return graph_type(g, inputs[1])->rank == 2 && planner_is_constant(p, inputs[1]) &&
           !planner_is_constant(p, inputs[0]);
}

bool cpu_claim_matmul(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const struct type *x = graph_type(g, graph_inputs(g, node)[0]);
    if (!cpu_is_computed_in_f32(graph_type(g, n->first_output)->dtype) || x->dim[x->rank - 1] == 0)
        return false;
    unsigned mask = planner_layouts(p, node) & ~(is_linear(p, node) ? LAYOUT_BIT(LAYOUT_MIDDLE_SWAPPED) : 0);
    enum layout layout = planner_choose(p, n->first_output, mask, LAYOUT_ROWS);
    return is_linear(p, node) && layout == LAYOUT_ROWS ? claim_linear(p, node) : claim_product(p, node, layout);
}

// The epilogue of a product must not depend on the layout that its result is given: so what `linear` could do, and else
// anything.
static bool accepts_product_epilogue(const struct planner *p, const struct step *step, const struct loop *loop)
{
    return !is_linear(p, step->node) || accepts_linear_epilogue(p, step, loop);
}

static void set_orientation(const struct view *v, char *ret_transposed, int64_t *ret_leading)
{
    int last = v->rank - 1;
    bool is_plain = v->stride[last] == 1 && (v->stride[last - 1] >= v->dim[last] || v->dim[last - 1] == 1);
    int64_t stride = v->stride[is_plain ? last - 1 : last], least = v->dim[is_plain ? last : last - 1];
    *ret_transposed = is_plain ? 'N' : 'T';
    *ret_leading = stride > least ? stride : least;
}

// All batch axes as one. False: strides do not allow that.
static bool as_batch(const struct view *v, int64_t n_products, struct onednn_tensor *ret_tensor)
{
    int rows = v->rank - 2, columns = v->rank - 1;
    int64_t dim[3] = {v->rank == 2 ? 1 : n_products, v->dim[rows], v->dim[columns]};
    struct view batch;
    if (!view_reshape(v, 3, dim, &batch))
        return false;
    *ret_tensor = cpu_tensor_of_view(&batch);
    if (dim[0] == 1)
        ret_tensor->stride[0] = dim[1] * dim[2];
    return true;
}

// The library's kernel for batches, unless that is a loop of the products that are made one by one here.
static struct onednn_primitive *make_all_at_once(const struct prepared_matmul *s, const struct step_request *r)
{
    struct onednn_tensor x, y, z;
    struct postops ops = {.n = s->has_relu, .channel_axis = 2, .items = {{.kind = POSTOP_RELU}}};
    bool is_possible = s->n_products * s->m * s->n * s->k > 0 && as_batch(&s->x, s->n_products, &x) &&
                       as_batch(&s->y, s->n_products, &y) && as_batch(&s->z, s->n_products, &z);
    struct onednn_primitive *p = is_possible ? onednn_matmul(r->backend->onednn, &x, &y, NULL, &z, &ops) : NULL;
    if (!p || !onednn_applies_slowly(p))
        return p;
    onednn_free(p);
    return NULL;
}

static void *prepare_matmul(const struct step_request *r)
{
    struct prepared_matmul *s = arena_new(r->arena, struct prepared_matmul);
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    s->x = r->step->operands[0];
    s->y = r->step->operands[1];
    s->z = r->step->results[0];
    s->n_batch = s->z.rank - 2;
    s->n_products = PRODUCT_ALL(int64_t, int, i, s->n_batch, s->z.dim[i]);
    s->m = s->z.dim[s->n_batch];
    s->n = s->z.dim[s->n_batch + 1];
    s->k = s->x.dim[s->n_batch + 1];
    s->threads = r->backend->threads;
    s->has_relu = cpu_attribute_int(n, ROLE_ACTIVATION) != 0;
    s->epilogue = cpu_prepare_behind(r);
    set_orientation(&s->z, &s->z_transposed, &s->z_leading);
    set_orientation(&s->x, &s->x_transposed, &s->x_leading);
    set_orientation(&s->y, &s->y_transposed, &s->y_leading);
    s->all_at_once = make_all_at_once(s, r);
    return s;
}

static void places_of_product(const struct prepared_matmul *s, int64_t product, int64_t *ret_place)
{
    for (int i = s->n_batch - 1; i >= 0; i--) {
        ret_place[i] = product % s->z.dim[i];
        product /= s->z.dim[i];
    }
}

static float *matrix_at(const struct view *v, const struct prepared_matmul *s, char *const *memory,
                        const int64_t *place)
{
    int64_t offset = 0;
    for (int i = 0; v->rank == s->z.rank && i < s->n_batch; i++)
        offset += place[i] * v->stride[i];
    return (float *)(void *)address_of_view(memory, v) + offset;
}

static char opposite(char transposed)
{
    return transposed == 'N' ? 'T' : 'N';
}

// A column-major result is the row-major one of the transposed operands, exchanged.
static bool multiply(const struct prepared_matmul *s, const float *x, const float *y, float *z)
{
    dnnl_status_t status = s->z_transposed == 'N'
                               ? dnnl_sgemm(s->x_transposed, s->y_transposed, s->m, s->n, s->k, 1, x, s->x_leading, y,
                                            s->y_leading, 0, z, s->z_leading)
                               : dnnl_sgemm(opposite(s->y_transposed), opposite(s->x_transposed), s->n, s->m, s->k, 1,
                                            y, s->y_leading, x, s->x_leading, 0, z, s->z_leading);
    return status == dnnl_success;
}

static bool run_product(const struct prepared_matmul *s, char *const *memory, int64_t product)
{
    int64_t place[MAX_RANK];
    places_of_product(s, product, place);
    float *z = matrix_at(&s->z, s, memory, place);
    bool is_plain = s->z_transposed == 'N';
    int64_t rows = is_plain ? s->m : s->n, columns = is_plain ? s->n : s->m;
    bool is_done = multiply(s, matrix_at(&s->x, s, memory, place), matrix_at(&s->y, s, memory, place), z);
    for (int64_t i = 0; s->has_relu && i < rows; i++)
        functions_apply(FN_RELU, z + i * s->z_leading, z + i * s->z_leading, NULL, NULL, columns);
    return is_done;
}

struct products_run {
    const struct prepared_matmul *products;
    char *const *memory;
    atomic_bool has_failed;
};

static void run_products(void *argument, int part, int parts)
{
    struct products_run *r = argument;
    const struct prepared_matmul *s = r->products;
    for (int64_t i = s->n_products * part / parts; i < s->n_products * (part + 1) / parts; i++) {
        if (!run_product(s, r->memory, i))
            r->has_failed = true;
    }
}

static bool run_over_threads(const struct prepared_matmul *s, const struct execution *e)
{
    struct products_run r = {s, e->memory, false};
    parallel_for_library(e->workers, s->threads, run_products, &r);
    return !r.has_failed;
}

static bool run_all_at_once(const struct prepared_matmul *s, const struct execution *e)
{
    struct onednn_arguments a = {.source = address_of_view(e->memory, &s->x),
                                 .weights = address_of_view(e->memory, &s->y),
                                 .target = address_of_view(e->memory, &s->z),
                                 .scratch = e->scratch};
    return onednn_run(s->all_at_once, e->workers, &a);
}

static bool run_matmul(void *state, const struct execution *e)
{
    const struct prepared_matmul *s = state;
    double work = (double)s->n_products * (double)s->m * (double)s->n * (double)s->k;
    bool suits_threads = s->n_products >= s->threads && s->threads > 1 && work > 1e5;
    bool is_done = s->all_at_once  ? run_all_at_once(s, e)
                   : suits_threads ? run_over_threads(s, e)
                                   : ALL(int64_t, i, s->n_products, run_product(s, e->memory, i));
    if (is_done)
        cpu_run_behind(s->epilogue, e);
    return is_done;
}

static size_t scratch_bytes_of_matmul(const void *state)
{
    return onednn_scratch_bytes(((const struct prepared_matmul *)state)->all_at_once);
}

static void free_matmul(void *state)
{
    onednn_free(((struct prepared_matmul *)state)->all_at_once);
}

const struct cpu_kernel cpu_kernel_matmul = {
    .base = {.name = "matmul", .accepts_epilogue = accepts_product_epilogue},
    .prepare = prepare_matmul,
    .run = run_matmul,
    .scratch_bytes = scratch_bytes_of_matmul,
    .free = free_matmul,
};
