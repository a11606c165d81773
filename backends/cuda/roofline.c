// A guess for what has not been measured: the time to move a step's bytes or to do its operations, whichever is longer,
// at a share of what the device could do, and a launch.
#include "backends/cuda/roofline.h"

#include "backends/cuda/internal.h"
#include "backends/cuda/library.h"
#include "backends/planning/plan_memory.h"
#include "graph/graph_whole.h"

#define LAUNCH_SECONDS 2e-6
#define SHARE_OF_BYTES 0.7
#define SHARE_OF_FLOPS 0.5
#define TENSOR_CORES_TF32 7.0   // times the rate of f32
#define TENSOR_CORES_HALF 14.0

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
    double flops = has_node ? graph_node_flops(plan->graph, step->node) : 0;
    double bytes = step_distinct_bytes(step, has_node);
    for (int i = 0; i < step->n_loops; i++)
        flops += loop_places(&step->loops[i]) * step->loops[i].n_instructions;
    double moving = bytes / (SHARE_OF_BYTES * b->information.bytes_per_second);
    double computing = flops / (SHARE_OF_FLOPS * rate_of(b, step));
    return LAUNCH_SECONDS + (moving > computing ? moving : computing);
}
