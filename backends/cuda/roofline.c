// A guess for what has not been measured: the time to move a step's bytes or to do its operations, whichever is longer,
// at a share of what the device could do, and a launch.
#include "backends/cuda/internal.h"
#include "core/memory/arena.h"

#define LAUNCH_SECONDS 2e-6
#define SHARE_OF_BYTES 0.7
#define SHARE_OF_FLOPS 0.5
#define TENSOR_CORES_TF32 7.0   // times the rate of f32
#define TENSOR_CORES_HALF 14.0

static double distinct_bytes(enum dtype dtype, int rank, const int64_t *dim, const int64_t *stride)
{
    double bytes = (double)dtype_size(dtype);
    for (int i = 0; i < rank; i++)
        bytes *= stride[i] ? (double)dim[i] : 1;
    return bytes;
}

static double bytes_of_views(int n, const struct view *views)
{
    double bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += distinct_bytes(views[i].dtype, views[i].rank, views[i].dim, views[i].stride);
    return bytes;
}

// An epilogue reads what else it needs; its own tensor is counted as the step's result.
static double bytes_of_loop(const struct loop *l, bool is_epilogue)
{
    double bytes = 0;
    for (int i = is_epilogue; i < l->n_operands; i++)
        bytes += distinct_bytes(l->operands[i].dtype, l->rank + l->n_reduced, l->dim, l->operands[i].stride);
    for (int i = 0; !is_epilogue && i < l->n_results; i++)
        bytes += distinct_bytes(l->results[i].to.dtype, l->rank, l->dim, l->results[i].to.stride);
    return bytes;
}

static double flops_of_loop(const struct loop *l)
{
    double places = 1;
    for (int i = 0; i < l->rank + l->n_reduced; i++)
        places *= (double)l->dim[i];
    return places * l->n_instructions;
}

static double flops_of_node(const struct plan *plan, node_id node)
{
    struct arena arena;
    struct definition d;
    arena_init(&arena);
    double flops = graph_define(plan->graph, node, &d, &arena) ? definition_flops(&d) : 0;
    definition_free(&d);
    arena_free(&arena);
    return flops;
}

static double rate_of(const struct cuda_backend *b, const struct step *step)
{
    double rate = b->information.flops_per_second;
    if (!cuda_is_library_step(step))
        return rate;
    enum dtype dtype = step->results[0].dtype;
    if (dtype == DTYPE_F16 || dtype == DTYPE_BF16)
        return rate * TENSOR_CORES_HALF;
    return b->base.options.allows_tf32 ? rate * TENSOR_CORES_TF32 : rate;
}

double cuda_guess(const struct backend *backend, const struct plan *plan, const struct step *step)
{
    const struct cuda_backend *b = (const struct cuda_backend *)backend;
    bool has_node = step->kernel != &cuda_kernel_loops;
    double flops = has_node ? flops_of_node(plan, step->node) : 0;
    double bytes = bytes_of_views(step->n_operands, step->operands) + bytes_of_views(step->n_results, step->results);
    for (int i = 0; i < step->n_loops; i++) {
        flops += flops_of_loop(&step->loops[i]);
        bytes += bytes_of_loop(&step->loops[i], has_node);
    }
    double moving = bytes / (SHARE_OF_BYTES * b->information.bytes_per_second);
    double computing = flops / (SHARE_OF_FLOPS * rate_of(b, step));
    return LAUNCH_SECONDS + (moving > computing ? moving : computing);
}
