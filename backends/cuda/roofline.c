// The guess, and what a step takes at least: a launch, and all of its bytes out of the cache or its products in the
// smallest tiles, wave after wave, whichever is longer.
#include "backends/cuda/roofline.h"

#include "backends/cuda/library.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "graph/graph_whole.h"
#include <math.h>

#define TILE 32           // rows and columns
#define LEAST_DEPTH 128   // of a tile whose products several multiprocessors share
#define MOST_SHARING 16

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

// --- at least --------------------------------------------------------------------------------------------------------

struct tiled {
    double rows, columns, depth, n;
};

static double seconds_of_tiles(const struct cuda_backend *b, const struct tiled *t, double rate)
{
    double least = INFINITY, processors = fmax(1, b->information.multiprocessors);
    double one = 2 * fmin(TILE, t->rows) * fmin(TILE, t->columns) * t->depth * processors / rate;
    for (int parts = 1; parts == 1 || (parts <= MOST_SHARING && t->depth >= parts * LEAST_DEPTH); parts *= 2)
        least =
            fmin(least, ceil(t->n * ceil(t->rows / TILE) * ceil(t->columns / TILE) * parts / processors) * one / parts);
    return least;
}

static double elements_behind(const struct view *v, int axis)
{
    return PRODUCT_ALL(double, int, i, v->rank - axis, (double)v->dim[axis + i]);
}

// A convolution of larger windows may need fewer products than its definition has.
static double least_of_conv(const struct cuda_backend *b, const struct step *step, double rate)
{
    const struct view *x = &step->operands[0], *w = &step->operands[1], *z = &step->results[0];
    double taps = elements_behind(w, 2), groups = w->dim[1] ? (double)(x->dim[1] / w->dim[1]) : 1;
    struct tiled t = {(double)z->dim[0] * elements_behind(z, 2), (double)w->dim[0] / groups, elements_behind(w, 1),
                      groups};
    return seconds_of_tiles(b, &t, rate) / (taps == 1 ? 1 : fmax(taps, WINOGRAD_SHARE));
}

static double least_of_product(const struct cuda_backend *b, const struct step *step, double rate)
{
    const struct view *x = &step->operands[0], *z = &step->results[0];
    struct tiled t = {(double)z->dim[z->rank - 2], (double)z->dim[z->rank - 1], (double)x->dim[x->rank - 1], 1};
    t.n = elements_behind(z, 0) / fmax(1, t.rows * t.columns);
    return seconds_of_tiles(b, &t, rate);
}

double cuda_least(const struct backend *backend, const struct plan *plan, const struct step *step)
{
    const struct cuda_backend *b = (const struct cuda_backend *)backend;
    double moving =
        step_distinct_bytes(step, step->kernel != &cuda_kernel_loops) / (CACHE_RATE * b->information.bytes_per_second);
    double computing = step->kernel == &cuda_kernel_conv      ? least_of_conv(b, step, rate_of(b, step))
                       : step->kernel == &cuda_kernel_product ? least_of_product(b, step, rate_of(b, step))
                                                              : 0;
    return LEAST_LAUNCH_SECONDS + fmax(moving, computing);
}
