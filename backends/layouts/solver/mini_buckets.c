// Variables go in the order of elimination. Each one's bucket is kept: the values are decided backwards, each by its
// whole bucket.
#include "backends/layouts/solver/mini_buckets.h"

#include "backends/layouts/solver/variable_elimination.h"
#include "core/memory/arena.h"
#include <math.h>

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
        size_t k = 0;
        while (k < ret->n && !fits(e, whole->variable, &ret->buckets.items[k], whole->factors[i], most_entries))
            k++;
        if (k == ret->n)
            add_bucket(ret, whole->factors[i]);
    }
}

// By bucket and value: what is to be added so that all have the mean of their least sums. The sum of these is zero.
static double *shifts_of(struct elimination *e, uint32_t variable, const struct partition *p)
{
    size_t n_values = (size_t)e->n_values[variable];
    double *shifts = arena_array(e->arena, double, p->n *n_values);
    for (size_t i = 0; i < p->n; i++)
        elimination_marginals(e, variable, &p->buckets.items[i], shifts + i * n_values);
    for (size_t value = 0; value < n_values; value++) {
        double mean = 0;
        for (size_t i = 0; i < p->n; i++)
            mean += shifts[i * n_values + value] / (double)p->n;
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
        double sum = 0;
        values[b->variable] = value;
        for (size_t i = 0; i < b->n; i++)
            sum += seconds_at(e, &e->factors.items[b->factors[i]], values);
        if (sum < least) {
            least = sum;
            best = value;
        }
    }
    return best;
}

double mini_buckets_find(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                         size_t most_entries, struct arena *arena, int *ret_values)
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
