// How fast this machine reads memory: one read of known size, out of no cache, timed, and kept in the cost database
// like a step.
#include "backends/cpu/memory_probe.h"

#include "backends/costs/cost_database.h"
#include "backends/cpu/cache_conditions.h"
#include "backends/cpu/kernel.h"
#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "core/numbers/statistics.h"
#include <string.h>

#define NAME_OF_READ "memory: 2 MiB that were flushed, in several streams"
enum { ROWS = 512, COLUMNS = 1024, N_MATRICES = 4, N_WARMING_UP = 50, N_SAMPLES = 1000, LEAST_QUIET = 100 };

struct memory_probe {
    struct arena arena;
    float *matrices;   // N_MATRICES times ROWS x COLUMNS
    int next;
    double usual;
};

// --- reading ---------------------------------------------------------------------------------------------------------

#define LINE 16     // floats
#define AHEAD 128   // floats
enum { STREAMS = 8 };

// A row of each stream.
static void add_rows(float *restrict sums, const float *from, int64_t apart, int64_t n)
{
    for (int64_t i = 0; i < n; i += LINE) {
        const float *row = from + i;
        for (int s = 0; s < STREAMS; s++)
            __builtin_prefetch(row + s * apart + AHEAD);
        for (int lane = 0; lane < LINE; lane++) {
            float a = row[lane] + row[apart + lane], b = row[2 * apart + lane] + row[3 * apart + lane];
            float c = row[4 * apart + lane] + row[5 * apart + lane], d = row[6 * apart + lane] + row[7 * apart + lane];
            sums[i + lane] += (a + b) + (c + d);
        }
    }
}

void memory_read(float *sums, const float *from, int64_t rows, int64_t columns)
{
    int64_t apart = rows / STREAMS * columns;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t i = 0; i < rows / STREAMS; i++)
        add_rows(sums, from + i * columns, apart, columns);
}

// --- the probe -------------------------------------------------------------------------------------------------------

struct lap memory_probe_read(struct memory_probe *p)
{
    float sums[COLUMNS];
    const float *matrix = p->matrices + (size_t)(p->next++ % N_MATRICES) * ROWS * COLUMNS;
    struct stopwatch watch;
    cache_conditions_flush(matrix, sizeof *matrix * ROWS * COLUMNS);
    stopwatch_start(&watch, true);
    memory_read(sums, matrix, ROWS, COLUMNS);
    return stopwatch_stop(&watch, true);
}

double memory_probe_usual(const struct memory_probe *p)
{
    return p->usual;
}

// The cost of reads that nothing came between: with few of them it is doubtful.
static struct step_cost measure_read(struct memory_probe *p)
{
    LOCAL_ARRAY(double, samples, N_SAMPLES);
    size_t n = 0;
    for (int i = 0; i < N_WARMING_UP; i++)
        memory_probe_read(p);
    for (int i = 0; i < N_SAMPLES; i++) {
        struct lap lap = memory_probe_read(p);
        samples[n] = lap.seconds;
        n += !lap.is_disturbed;
    }
    struct sample_summary summary = sample_summarize(samples, n ? n : 1);
    return (struct step_cost){.seconds = summary.median, .spread = summary.spread, .is_doubtful = n < LEAST_QUIET};
}

// A probe that was doubtful when the database was begun, or is to be repaired, is measured again before the first step
// that is a share of it; it is looked up each time, as costs may be divided meanwhile (cost_trial.h).
static struct step_cost find_or_measure_read(struct cpu_backend *b, struct memory_probe *p)
{
    struct step_cost cost;
    bool is_known = cost_database_find(b->base.costs, NAME_OF_READ, &cost);
    if (is_known && !(cost.is_old && (cost.is_doubtful || b->base.measuring.repairs == REPAIRS_ALL)))
        return cost;
    cost = measure_read(p);
    cost_database_add(b->base.costs, NAME_OF_READ, &cost);
    cost_database_find(b->base.costs, NAME_OF_READ, &cost);
    return cost;
}

static struct memory_probe *memory_probe_new(void)
{
    struct memory_probe *p = mem_alloc_zero(sizeof *p);
    arena_init(&p->arena);
    p->matrices = arena_array(&p->arena, float, (size_t)N_MATRICES *ROWS *COLUMNS);
    for (size_t i = 0; i < (size_t)N_MATRICES * ROWS * COLUMNS; i++)
        p->matrices[i] = 1;
    return p;
}

struct memory_probe *memory_probe_of(struct cpu_backend *b)
{
    b->probe = b->probe ? b->probe : memory_probe_new();
    b->probe->usual = find_or_measure_read(b, b->probe).seconds;
    return b->probe;
}

void memory_probe_free(struct memory_probe *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    mem_free(p, sizeof *p);
}
