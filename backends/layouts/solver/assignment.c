// Elimination within the limits, else mini-buckets and conditioning.
#include "backends/layouts/solver/assignment.h"

#include "backends/layouts/solver/mini_buckets.h"
#include "backends/layouts/solver/variable_elimination.h"
#include "backends/limits.def"
#include "core/memory/arena.h"
#include <math.h>

const struct assignment_limits assignment_standard_limits = {.entries = (size_t)1 << 16, .work = 1 << 20};

// Entries of the tables of an approximate solution.
enum { ENTRIES_OF_BOUND = 1 << 8, ENTRIES_OF_MOVES = 1 << 9 };

// The work; INFINITY: a limit was exceeded, and the rest is as it was.
static double eliminate_all(struct elimination *e, const struct assignment_limits *limits)
{
    double work = 0;
    for (uint32_t v; (v = elimination_next(e)) != NO_VARIABLE;) {
        double entries = elimination_entries(e, v);
        work += entries;
        if (entries > (double)limits->entries || work > limits->work)
            return INFINITY;
        elimination_remove(e, v);
    }
    return work;
}

// --- conditioning ----------------------------------------------------------------------------------------------------
// Where the cheapest variable takes too large a table, the one with the most neighbours keeps its value, for which
// others are preferred the next time.

enum { MOST_ROUNDS = 24, MOST_ROUNDS_IN_VAIN = 4 };

static uint32_t variable_to_keep(struct elimination *e, const uint32_t *times_kept)
{
    uint32_t best = NO_VARIABLE;
    double most = -1;
    for (uint32_t v = 0; v < e->n_variables; v++) {
        if (e->variables[v].is_gone)
            continue;
        double merit = (double)elimination_count_neighbours(e, v) / (1 + times_kept[v]);
        if (merit > most) {
            most = merit;
            best = v;
        }
    }
    return best;
}

// The least sum where some variables keep their values.
static double eliminate_others(struct elimination *e, uint32_t *times_kept, size_t most_entries, int *values)
{
    for (uint32_t v; (v = elimination_next(e)) != NO_VARIABLE;) {
        if (elimination_entries(e, v) <= (double)most_entries) {
            elimination_remove(e, v);
            continue;
        }
        uint32_t kept = variable_to_keep(e, times_kept);
        times_kept[kept]++;
        elimination_fix(e, kept, values[kept]);
        if (kept != v)
            elimination_reconsider(e, v);
    }
    elimination_decide(e, values);
    return e->constant;
}

// From the values that are there. No table that is made has more than `most_entries`; no sum is below `least`.
static double improve(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                      size_t most_entries, double least, struct arena *arena, int *values)
{
    uint32_t *times_kept = arena_array(arena, uint32_t, n_variables + 1);
    double best = INFINITY;
    int in_vain = 0;
    for (int i = 0; i < MOST_ROUNDS && in_vain < MOST_ROUNDS_IN_VAIN && best - least > LEAST_GAIN_OF_A_ROUND * least;
         i++) {
        ARENA_MARK(mark, arena);
        struct elimination e;
        elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
        double sum = eliminate_others(&e, times_kept, most_entries, values);
        in_vain = sum < best - LEAST_GAIN_OF_A_ROUND * best ? 0 : in_vain + 1;
        best = fmin(best, sum);
        elimination_free(&e);
    }
    return best;
}

// --- either ----------------------------------------------------------------------------------------------------------

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct assignment solve_approximately(size_t n_variables, const int *n_values, size_t n_tables,
                                             const struct cost_table *tables, const struct assignment_limits *limits,
                                             struct arena *arena, int *ret_values)
{
    struct assignment a;
    struct arena_mark mark = arena_mark(arena);
    a.least = mini_buckets_find(n_variables, n_values, n_tables, tables, smaller(ENTRIES_OF_BOUND, limits->entries),
                                arena, ret_values);
    arena_release(arena, mark);
    a.seconds = improve(n_variables, n_values, n_tables, tables, smaller(ENTRIES_OF_MOVES, limits->entries), a.least,
                        arena, ret_values);
    a.least = fmin(a.least, a.seconds);
    return a;
}

struct assignment assignment_find(size_t n_variables, const int *n_values, size_t n_tables,
                                  const struct cost_table *tables, const struct assignment_limits *limits,
                                  struct arena *arena, int *ret_values)
{
    struct elimination e;
    struct arena_mark mark = arena_mark(arena);
    elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
    bool is_done = eliminate_all(&e, limits) < INFINITY;
    struct assignment a = {e.constant, e.constant};
    if (is_done)
        elimination_decide(&e, ret_values);
    elimination_free(&e);
    if (is_done)
        return a;
    arena_release(arena, mark);
    return solve_approximately(n_variables, n_values, n_tables, tables, limits, arena, ret_values);
}

double assignment_work(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                       const struct assignment_limits *limits, struct arena *arena)
{
    struct elimination e FREED_BY(elimination_free);
    elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
    return eliminate_all(&e, limits);
}
