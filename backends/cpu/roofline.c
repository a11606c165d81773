// The most that this processor can do, with the threads of the device: the library's product of matrices that stay in
// the caches, and copies and reads of what no cache holds; the best of several runs. Kept in the cost database like
// steps, in seconds for a thousand million.
#include "backends/cpu/roofline.h"

#include "backends/costs/cost_database.h"
#include "backends/cpu/loops/kernel_scope.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/memory_probe.h"
#include "backends/limits.def"
#include "core/system/clock.h"
#include <math.h>
#include <string.h>

#define N_RUNS 8
enum { SIDE = 512, ROWS = 64, COLUMNS = 4096, PIECES = 64 };   // a piece: 1 MiB
#define PIECE ((size_t)ROWS * COLUMNS)

struct roofline_work {
    struct cpu_backend *backend;
    struct arena arena;
    float *from, *to, *sums;   // PIECES of each; COLUMNS for each piece
    struct onednn_primitive *product;
    struct onednn_arguments arguments;
};
typedef bool work_fn(struct roofline_work *r);

// --- three kinds of work ---------------------------------------------------------------------------------------------

static bool multiply(struct roofline_work *r)
{
    return onednn_run(r->product, NULL, &r->arguments);
}

static void copy_part(void *argument, int part, int parts)
{
    const struct roofline_work *r = argument;
    for (int i = PIECES * part / parts; i < PIECES * (part + 1) / parts; i++)
        memcpy(r->to + (size_t)i * PIECE, r->from + (size_t)i * PIECE, PIECE * sizeof *r->to);
}

static bool copy(struct roofline_work *r)
{
    parallel_for(NULL, r->backend->threads, copy_part, r);
    return true;
}

static void read_part(void *argument, int part, int parts)
{
    const struct roofline_work *r = argument;
    for (int i = PIECES * part / parts; i < PIECES * (part + 1) / parts; i++)
        memory_read(r->sums + (size_t)i * COLUMNS, r->from + (size_t)i * PIECE, ROWS, COLUMNS);
}

static bool read_all(struct roofline_work *r)
{
    parallel_for(NULL, r->backend->threads, read_part, r);
    return true;
}

static bool prepare_product(struct roofline_work *r)
{
    struct onednn_tensor matrix = {.rank = 2, .dim = {SIDE, SIDE}, .stride = {SIDE, 1}}, weights = matrix;
    size_t bytes = sizeof(float) * SIDE * SIDE;
    weights.is_free = true;
    r->product = onednn_matmul(r->backend->onednn, &matrix, &weights, NULL, &matrix, NULL);
    if (!r->product)
        return false;
    r->arguments.source = r->from;
    r->arguments.target = r->to;
    r->arguments.weights = arena_alloc(&r->arena, onednn_weights_bytes(r->product), 64);
    r->arguments.scratch = arena_alloc(&r->arena, onednn_scratch_bytes(r->product) + 64, 64);
    return bytes <= PIECES * PIECE && onednn_pack_weights(r->product, &matrix, r->from, r->arguments.weights);
}

// --- measuring -------------------------------------------------------------------------------------------------------

static struct step_cost time_work(struct roofline_work *r, work_fn *work, double units)
{
    bool is_alone = r->backend->threads == 1, is_done = work(r);
    struct step_cost cost = {.seconds = INFINITY};
    for (int i = 0; is_done && i < N_RUNS; i++) {
        struct stopwatch watch;
        stopwatch_start(&watch, is_alone);
        is_done = work(r);
        cost.seconds = fmin(cost.seconds, stopwatch_stop(&watch, is_alone).seconds);
    }
    cost.seconds *= UNITS_OF_CEILINGS / units;
    return cost;
}

static void open_roofline_work(struct roofline_work *r, struct cpu_backend *b)
{
    *r = (struct roofline_work){.backend = b};
    arena_init(&r->arena);
    r->from = arena_array(&r->arena, float, PIECES *PIECE);
    r->to = arena_array(&r->arena, float, PIECES *PIECE);
    r->sums = arena_array(&r->arena, float, (size_t)PIECES *COLUMNS);
    for (size_t i = 0; i < PIECES * PIECE; i++)
        r->from[i] = r->to[i] = 1;
}

static const struct ceiling {
    const char *name;
    work_fn *work;
    double units;
} ceilings[] = {{"roofline: multiply-adds", multiply, 2.0 * SIDE *SIDE *SIDE},
                {"roofline: copied", copy, 2.0 * PIECES *PIECE * sizeof(float)},
                {"roofline: read", read_all, 1.0 * PIECES *PIECE * sizeof(float)}};
enum { MULTIPLY_ADDS, COPIED, READ, N_CEILINGS };

static void measure_roofline(struct cpu_backend *b)
{
    struct roofline_work r;
    struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(b));
    open_roofline_work(&r, b);
    bool has_product = prepare_product(&r);
    for (int i = 0; i < N_CEILINGS; i++) {
        struct step_cost cost = {.seconds = INFINITY};
        if (i != MULTIPLY_ADDS || has_product)
            cost = time_work(&r, ceilings[i].work, ceilings[i].units);
        cost_database_add(b->base.costs, ceilings[i].name, &cost);
    }
    onednn_free(r.product);
    arena_free(&r.arena);
    kernel_scope_end(&scope);
}

static bool find_roofline(const struct cpu_backend *b, double *ret_per_second)
{
    for (int i = 0; i < N_CEILINGS; i++) {
        struct step_cost cost;
        if (!cost_database_find(b->base.costs, ceilings[i].name, &cost))
            return false;
        ret_per_second[i] = UNITS_OF_CEILINGS / cost.seconds;
    }
    return true;
}

bool cpu_roofline(struct backend *backend, struct roofline *ret_roofline)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    double per_second[N_CEILINGS];
    if (!find_roofline(b, per_second)) {
        if (b->base.measuring.only_recalls || b->base.options.never_measures)
            return false;
        measure_roofline(b);
        if (!find_roofline(b, per_second))
            return false;
    }
    *ret_roofline = (struct roofline){per_second[MULTIPLY_ADDS], per_second[COPIED], per_second[READ]};
    return true;
}
