// The most that this processor can do, with the threads of the device: the library's product of matrices that stay in
// the caches, and copies and reads of what no cache holds; the best of several runs. Kept in the cost database like
// steps, in seconds for a thousand million.
#include "backends/cpu/roofs.h"

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

struct roofing {
    struct cpu_backend *backend;
    struct arena arena;
    float *from, *to, *sums;   // PIECES of each; COLUMNS for each piece
    struct onednn_primitive *product;
    struct onednn_arguments arguments;
};
typedef bool work_fn(struct roofing *r);

// --- three kinds of work ---------------------------------------------------------------------------------------------

static bool multiply(struct roofing *r)
{
    return onednn_run(r->product, NULL, &r->arguments);
}

static void copy_part(void *argument, int part, int parts)
{
    const struct roofing *r = argument;
    for (int i = PIECES * part / parts; i < PIECES * (part + 1) / parts; i++)
        memcpy(r->to + (size_t)i * PIECE, r->from + (size_t)i * PIECE, PIECE * sizeof *r->to);
}

static bool copy(struct roofing *r)
{
    parallel_for(NULL, r->backend->threads, copy_part, r);
    return true;
}

static void read_part(void *argument, int part, int parts)
{
    const struct roofing *r = argument;
    for (int i = PIECES * part / parts; i < PIECES * (part + 1) / parts; i++)
        memory_read(r->sums + (size_t)i * COLUMNS, r->from + (size_t)i * PIECE, ROWS, COLUMNS);
}

static bool read_all(struct roofing *r)
{
    parallel_for(NULL, r->backend->threads, read_part, r);
    return true;
}

static bool prepare_product(struct roofing *r)
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

static struct step_cost time_work(struct roofing *r, work_fn *work, double units)
{
    bool is_alone = r->backend->threads == 1, is_done = work(r);
    struct step_cost cost = {.seconds = INFINITY};
    for (int i = 0; is_done && i < N_RUNS; i++) {
        struct stopwatch watch;
        stopwatch_start(&watch, is_alone);
        is_done = work(r);
        cost.seconds = fmin(cost.seconds, stopwatch_stop(&watch, is_alone).seconds);
    }
    cost.seconds *= UNITS_OF_ROOFS / units;
    return cost;
}

static void open_roofing(struct roofing *r, struct cpu_backend *b)
{
    *r = (struct roofing){.backend = b};
    arena_init(&r->arena);
    r->from = arena_array(&r->arena, float, PIECES *PIECE);
    r->to = arena_array(&r->arena, float, PIECES *PIECE);
    r->sums = arena_array(&r->arena, float, (size_t)PIECES *COLUMNS);
    for (size_t i = 0; i < PIECES * PIECE; i++)
        r->from[i] = r->to[i] = 1;
}

static const struct roof {
    const char *name;
    work_fn *work;
    double units;
} roofs[] = {{"roof: multiply-adds", multiply, 2.0 * SIDE *SIDE *SIDE},
             {"roof: copied", copy, 2.0 * PIECES *PIECE * sizeof(float)},
             {"roof: read", read_all, 1.0 * PIECES *PIECE * sizeof(float)}};
enum { MULTIPLY_ADDS, COPIED, READ, N_ROOFS };

static void measure_roofs(struct cpu_backend *b)
{
    struct roofing r;
    struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(b));
    open_roofing(&r, b);
    bool has_product = prepare_product(&r);
    for (int i = 0; i < N_ROOFS; i++) {
        struct step_cost cost = {.seconds = INFINITY};
        if (i != MULTIPLY_ADDS || has_product)
            cost = time_work(&r, roofs[i].work, roofs[i].units);
        cost_database_add(b->base.costs, roofs[i].name, &cost);
    }
    onednn_free(r.product);
    arena_free(&r.arena);
    kernel_scope_end(&scope);
}

static bool find_roofs(const struct cpu_backend *b, double *ret_per_second)
{
    for (int i = 0; i < N_ROOFS; i++) {
        struct step_cost cost;
        if (!cost_database_find(b->base.costs, roofs[i].name, &cost))
            return false;
        ret_per_second[i] = UNITS_OF_ROOFS / cost.seconds;
    }
    return true;
}

bool cpu_roofs(struct backend *backend, struct roofs *ret_roofs)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    double per_second[N_ROOFS];
    if (!find_roofs(b, per_second)) {
        if (b->base.measuring.only_recalls || b->base.options.never_measures)
            return false;
        measure_roofs(b);
        if (!find_roofs(b, per_second))
            return false;
    }
    *ret_roofs = (struct roofs){per_second[MULTIPLY_ADDS], per_second[COPIED], per_second[READ]};
    return true;
}
