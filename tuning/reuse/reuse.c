// Schedules within the ranges of B and T, sorted by B, then T, so that each pair is a run of them.
#include "tuning/reuse/reuse.h"

#include "core/memory/vec.h"
#include "core/numbers/random.h"
#include "tuning/limits.def"
#include <math.h>

struct range {
    double low, high;
};
struct candidate {
    struct reuse_schedule schedule;
    double value;   // NAN: not told
    bool is_proposed;
};
struct reuse_search {
    struct range m;
    double m_of_block;   // of the best of b
    VEC(struct candidate) candidates;
    bool is_second_round;
};

// --- conditions ------------------------------------------------------------------------------------------------------

static bool dominates(const struct reuse_loops *a, const struct reuse_loops *b)
{
    return !ANY(int, i, a->n, a->extents[i] < b->extents[i]);
}

bool reuse_is_possible(const struct reuse_loops *a, const struct reuse_loops *b)
{
    return a->n == b->n && a->n_space == b->n_space && (dominates(a, b) || dominates(b, a));
}

bool reuse_find_bridge(const struct reuse_loops *a, const struct reuse_loops *b, struct reuse_loops *ret_bridge)
{
    if (a->n != b->n || a->n_space != b->n_space || reuse_is_possible(a, b))
        return false;
    *ret_bridge = *a;
    for (int i = 0; i < a->n; i++)
        ret_bridge->extents[i] = a->extents[i] < b->extents[i] ? a->extents[i] : b->extents[i];
    return true;
}

static double iterations(const struct reuse_loops *l, int from)
{
    double product = 1;
    for (int i = from; i < l->n; i++)
        product *= (double)l->extents[i];
    return product;
}

static struct range range_of(double best, double one, double other)
{
    return (struct range){best * fmin(one, other) * (1 - TOLERANCE), best * fmax(one, other) * (1 + TOLERANCE)};
}

static bool is_within(struct range r, double value)
{
    return value >= r.low && value <= r.high;
}

// --- candidates ------------------------------------------------------------------------------------------------------

COMPARISON(compare_candidates, struct candidate,
           ORDER(x->schedule.b, y->schedule.b) ?: ORDER(x->schedule.t, y->schedule.t) ?:
           ORDER(x->schedule.point, y->schedule.point))

struct reuse_search *reuse_search_new(const struct reuse_loops *a, const struct reuse_schedule *schedules, size_t n,
                                      const struct reuse_loops *b, const struct reuse_schedule *best)
{
    struct reuse_search *s = mem_alloc_zero(sizeof *s);
    double r1 = iterations(b, b->n_space) / iterations(a, a->n_space), r2 = iterations(a, 0) / iterations(b, 0);
    struct range of_b = range_of(best->b, r1, r2), of_t = range_of(best->t, 1, r2);
    s->m = range_of(best->m, 1, r2);
    s->m_of_block = best->m / best->b;
    for (size_t i = 0; i < n; i++)
        if (is_within(of_b, schedules[i].b) && is_within(of_t, schedules[i].t))
            vec_push(&s->candidates, ((struct candidate){schedules[i], NAN, false}));
    vec_sort(&s->candidates, compare_candidates);
    return s;
}

void reuse_search_free(struct reuse_search *s)
{
    vec_free(&s->candidates);
    mem_free(s, sizeof *s);
}

// The end of a run is behind the last one with the same B, or the same B and T.
static size_t end_of_run(const struct reuse_search *s, size_t begin, bool is_of_t)
{
    const struct candidate *all = s->candidates.items;
    size_t end = begin;
    while (end < s->candidates.count && all[end].schedule.b == all[begin].schedule.b &&
           (!is_of_t || all[end].schedule.t == all[begin].schedule.t))
        end++;
    return end;
}

static double distance_of_m(const struct reuse_search *s, const struct reuse_schedule *a)
{
    return fabs(log(a->m / a->b / s->m_of_block));
}

static bool reads_less(const struct reuse_search *s, const struct reuse_schedule *a, const struct reuse_schedule *b)
{
    if (a->block_cost != b->block_cost)
        return a->block_cost < b->block_cost;
    if (a->tile_cost != b->tile_cost)
        return a->tile_cost < b->tile_cost;
    return distance_of_m(s, a) < distance_of_m(s, b);
}

static void propose(struct candidate *c, size_t *n, size_t most, int64_t *ret_points)
{
    if (c->is_proposed || *n == most)
        return;
    c->is_proposed = true;
    ret_points[(*n)++] = c->schedule.point;
}

static size_t propose_first(struct reuse_search *s, size_t most, int64_t *ret_points)
{
    size_t n = 0;
    for (size_t begin = 0, end; begin < s->candidates.count; begin = end) {
        struct candidate *all = s->candidates.items, *best = &all[begin];
        end = end_of_run(s, begin, true);
        for (size_t i = begin + 1; i < end; i++)
            best = reads_less(s, &all[i].schedule, &best->schedule) ? &all[i] : best;
        propose(best, &n, most, ret_points);
    }
    return n;
}

static size_t propose_second(struct reuse_search *s, size_t most, int64_t *ret_points)
{
    size_t n = 0;
    for (size_t begin = 0, end; begin < s->candidates.count; begin = end) {
        struct candidate *all = s->candidates.items, *best = NULL;
        end = end_of_run(s, begin, false);
        for (size_t i = begin; i < end; i++)
            if (all[i].value < (best ? best->value : INFINITY))
                best = &all[i];
        for (size_t i = begin; best && i < end; i++)
            if (all[i].schedule.t == best->schedule.t && is_within(s->m, all[i].schedule.m))
                propose(&all[i], &n, most, ret_points);
    }
    return n;
}

size_t reuse_search_propose(struct reuse_search *s, size_t most, int64_t *ret_points)
{
    size_t n = s->is_second_round ? 0 : propose_first(s, most, ret_points);
    if (n)
        return n;
    s->is_second_round = true;
    return propose_second(s, most, ret_points);
}

void reuse_search_tell(struct reuse_search *s, int64_t point, double value)
{
    for (size_t i = 0; i < s->candidates.count; i++)
        if (s->candidates.items[i].schedule.point == point)
            s->candidates.items[i].value = value;
}

// --- estimates -------------------------------------------------------------------------------------------------------

// The number of trials does not depend much on which T is the best of a B: here it is what reads least.
static size_t count_trials(struct reuse_search *s)
{
    int64_t point;
    size_t n = 0;
    for (; reuse_search_propose(s, 1, &point); n++)
        for (size_t i = 0; i < s->candidates.count; i++)
            if (s->candidates.items[i].schedule.point == point)
                s->candidates.items[i].value = s->candidates.items[i].schedule.tile_cost;
    return n;
}

double reuse_estimate_trials(const struct reuse_loops *a, const struct reuse_schedule *schedules, size_t n,
                             const struct reuse_loops *b, const struct reuse_schedule *of_b, size_t n_of_b,
                             uint64_t seed)
{
    struct random random = random_seed(seed);
    double sum = 0;
    for (int i = 0; i < REUSE_SAMPLES; i++) {
        const struct reuse_schedule *best = &of_b[random_below(&random, n_of_b)];
        struct reuse_search *s = reuse_search_new(a, schedules, n, b, best);
        sum += (double)count_trials(s) / REUSE_SAMPLES;
        reuse_search_free(s);
    }
    return sum;
}
