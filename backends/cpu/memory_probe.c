// How fast this machine reads memory: one read of known size, timed, and kept in the cost database like a step.
#include "backends/cpu/memory_probe.h"

#include "backends/contract/cost_database.h"
#include "backends/cpu/cpu_internal.h"
#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "core/numbers/statistics.h"
#include "core/system/clock.h"

#define NAME_OF_READ "memory: 2 MiB of a larger buffer, in turns, in several streams"
enum { ROWS = 512, COLUMNS = 1024, N_READS = 48, N_SAMPLES = 20 * N_READS };

struct yardstick {
    const struct vector_functions *vector;
    struct arena arena;
    float *matrices;   // N_READS times ROWS x COLUMNS: more than the caches keep
    int next;
    double usual;
};

struct lap yardstick_read(struct yardstick *y)
{
    float factors[ROWS], sums[COLUMNS];
    y->vector->fill(factors, 1, ROWS);
    const float *matrix = y->matrices + (size_t)(y->next++ % N_READS) * ROWS * COLUMNS;
    struct stopwatch watch;
    stopwatch_start(&watch, true);
    y->vector->combine_rows(sums, factors, matrix, ROWS, COLUMNS);
    return stopwatch_stop(&watch, true);
}

double yardstick_usual(const struct yardstick *y)
{
    return y->usual;
}

static struct step_cost measure_read(struct yardstick *y)
{
    double *samples = mem_new_array(double, N_SAMPLES);
    for (int i = 0; i < N_READS; i++)
        yardstick_read(y);
    for (int i = 0; i < N_SAMPLES; i++)
        samples[i] = yardstick_read(y).seconds;
    struct sample_summary summary = sample_summarize(samples, N_SAMPLES);
    mem_free_array(samples, N_SAMPLES);
    return (struct step_cost){.seconds = summary.median, .spread = summary.spread};
}

struct yardstick *yardstick_of(struct cpu_backend *b)
{
    struct step_cost cost;
    if (b->yardstick)
        return b->yardstick;
    struct yardstick *y = mem_alloc_zero(sizeof *y);
    y->vector = b->vector;
    arena_init(&y->arena);
    y->matrices = arena_array(&y->arena, float, (size_t)N_READS *ROWS *COLUMNS);
    for (size_t i = 0; i < N_READS; i++)
        y->vector->fill(y->matrices + i * ROWS * COLUMNS, 1, ROWS * COLUMNS);
    if (!cost_database_find(b->base.costs, NAME_OF_READ, &cost)) {
        cost = measure_read(y);
        cost_database_add(b->base.costs, NAME_OF_READ, &cost);
    }
    y->usual = cost.seconds;
    b->yardstick = y;
    return y;
}

void yardstick_free(struct yardstick *y)
{
    if (!y)
        return;
    arena_free(&y->arena);
    mem_free(y, sizeof *y);
}
