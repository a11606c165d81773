// Elimination within the limits, else mini-buckets and conditioning.
#include "backends/layouts/solver/assignment.h"

#include "backends/layouts/solver/variable_elimination.h"
#include "backends/limits.def"
#include "core/memory/arena.h"
#include <math.h>

// --- mini-buckets ----------------------------------------------------------------------------------------------------
// Variables go in the order of elimination. Each one's bucket is kept: the values are decided backwards, each by its
// whole bucket.

struct bucket {
    uint32_t variable;
    size_t n;
    const uint32_t *factors;
};
struct partition {
    VEC(factor_list) buckets;   // those that were in use before are kept for their memory
    size_t n;
};

// --- parting ---------------------------------------------------------------------------------------------------------

static int compare_by_size(const struct elimination *e, uint32_t a, uint32_t b)
{
    int x = e->factors.items[a].n, y = e->factors.items[b].n;
    return x != y ? y - x : (a > b) - (a < b);
}

// The largest first, so that small ones fill up what they leave.
static uint32_t *sorted_factors(const struct elimination *e, const factor_list *factors)
{
    uint32_t *sorted = arena_array(e->arena, uint32_t, factors->count + 1);
    for (size_t i = 0; i < factors->count; i++) {
        size_t at = i;
        for (; at > 0 && compare_by_size(e, factors->items[i], sorted[at - 1]) < 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = factors->items[i];
    }
    return sorted;
}

static void add_bucket(struct partition *p, uint32_t factor)
{
    if (p->n == p->buckets.count)
        vec_push(&p->buckets, ((factor_list){0}));
    vec_clear(&p->buckets.items[p->n]);
    vec_push(&p->buckets.items[p->n], factor);
    p->n++;
}

static bool fits(struct elimination *e, uint32_t variable, factor_list *bucket, uint32_t factor, size_t most_entries)
{
    vec_push(bucket, factor);
    if (elimination_entries_of(e, variable, bucket) <= (double)most_entries)
        return true;
    bucket->count--;
    return false;
}

static void part(struct elimination *e, const struct bucket *whole, size_t most_entries, struct partition *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < whole->n; i++) {
        bool is_full =
            !ANY(size_t, k, ret->n, fits(e, whole->variable, &ret->buckets.items[k], whole->factors[i], most_entries));
        if (is_full)
            add_bucket(ret, whole->factors[i]);
    }
}

// The shifts, by bucket and value, that give all the mean of their least sums. The sum of these is zero.
static double *shifts_of(struct elimination *e, uint32_t variable, const struct partition *p)
{
    size_t n_values = (size_t)e->n_values[variable];
    double *shifts = arena_array(e->arena, double, p->n *n_values);
    for (size_t i = 0; i < p->n; i++)
        elimination_marginals(e, variable, &p->buckets.items[i], shifts + i * n_values);
    for (size_t value = 0; value < n_values; value++) {
        double mean = SUM_ALL(double, size_t, i, p->n, shifts[i * n_values + value] / (double)p->n);
        for (size_t i = 0; i < p->n; i++)
            shifts[i * n_values + value] = mean - shifts[i * n_values + value];
    }
    return shifts;
}

static struct bucket eliminate(struct elimination *e, uint32_t variable, size_t most_entries, struct partition *p)
{
    const factor_list *factors = elimination_factors_of(e, variable);
    struct bucket whole = {variable, factors->count, sorted_factors(e, factors)};
    part(e, &whole, most_entries, p);
    const double *shifts = p->n > 1 ? shifts_of(e, variable, p) : NULL;
    for (size_t i = 0; i < p->n; i++)
        elimination_minimize(e, variable, &p->buckets.items[i],
                             shifts ? shifts + i * (size_t)e->n_values[variable] : NULL);
    elimination_drop(e, variable);
    return whole;
}

// --- deciding --------------------------------------------------------------------------------------------------------

static double seconds_at(const struct elimination *e, const struct factor *f, const int *values)
{
    size_t at = 0;
    for (int k = 0; k < f->n; k++)
        at = at * (size_t)e->n_values[f->variables[k]] + (size_t)values[f->variables[k]];
    return f->seconds[at];
}

static int best_value(const struct elimination *e, const struct bucket *b, int *values)
{
    double least = INFINITY;
    int best = 0;
    for (int value = 0; value < e->n_values[b->variable]; value++) {
        values[b->variable] = value;
        double sum = SUM_ALL(double, size_t, i, b->n, seconds_at(e, &e->factors.items[b->factors[i]], values));
        if (sum < least) {
            least = sum;
            best = value;
        }
    }
    return best;
}

// A lower bound of a sum of tables, and an assignment that goes by it (mini-bucket elimination; Dechter and Rish 2003).
//
// Tables that mention a variable and add up to too large a table are parted, and each part is minimized over the
// variable by itself: as if the variable could have another value in each. Costs are moved between the parts
// first, so that all have the same minimum for each of its values.
//
// No table that is made has more than `most_entries`, with the values of what is eliminated, but what one table that is
// given makes by itself. Gives the bound; the values are those that are best under what was left of the tables.
static double mini_buckets_find(size_t n_variables, const int *n_values, size_t n_tables,
                                const struct cost_table *tables, size_t most_entries, struct arena *arena,
                                int *ret_values)
{
    struct elimination e FREED_BY(elimination_free);
    struct partition p = {.n = 0};
    struct bucket *buckets = arena_array(arena, struct bucket, n_variables + 1);
    size_t n = 0;
    elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
    for (uint32_t v; (v = elimination_next(&e)) != NO_VARIABLE;)
        buckets[n++] = eliminate(&e, v, most_entries, &p);
    while (n-- > 0)
        ret_values[buckets[n].variable] = best_value(&e, &buckets[n], ret_values);
    for (size_t i = 0; i < p.buckets.count; i++)
        vec_free(&p.buckets.items[i]);
    vec_free(&p.buckets);
    return e.constant;
}

// --- elimination -----------------------------------------------------------------------------------------------------

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

// Improves the values that are there. No table that is made has more than `most_entries`; no sum is below `least`.
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

static struct assignment solve_approximately(size_t n_variables, const int *n_values, size_t n_tables,
                                             const struct cost_table *tables, const struct assignment_limits *limits,
                                             struct arena *arena, int *ret_values)
{
    struct assignment a;
    struct arena_mark mark = arena_mark(arena);
    a.least = mini_buckets_find(n_variables, n_values, n_tables, tables, mem_smaller(ENTRIES_OF_BOUND, limits->entries),
                                arena, ret_values);
    arena_release(arena, mark);
    a.seconds = improve(n_variables, n_values, n_tables, tables, mem_smaller(ENTRIES_OF_MOVES, limits->entries),
                        a.least, arena, ret_values);
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
