// Indices are given values one after the other, each within what is left of its range, until none is left.
#include "verifier/inequalities/points.h"

#include "core/numbers/integers.h"

#define NO_VALUE INT64_MIN
#define MOST_INDICES 64
#define MOST_MODERATE ((int64_t)1 << 60)   // what no bound of a range overflows by

void points_init(struct points *p, const struct polys *polys)
{
    *p = (struct points){.polys = polys, .random = random_seed(1)};
}

void points_free(struct points *p)
{
    vec_free(&p->items);
    arena_free(&p->arena);
}

// --- values ----------------------------------------------------------------------------------------------------------

static bool value_at(const struct polys *p, const struct point *at, poly a, int64_t *ret_value);

// False: it has none yet, or one that is too large or that it cannot have.
static bool value_of_atom(const struct polys *p, const struct point *at, atom x, int64_t *ret_value)
{
    const struct atom_value *v = &p->atoms.items[x];
    int64_t a, b;
    if (v->kind == ATOM_QUOTIENT) {
        bool is_known = value_at(p, at, v->dividend, &a) && value_at(p, at, v->divisor, &b) && b >= 1;
        *ret_value = is_known ? floor_quotient(a, b) : 0;
        return is_known;
    }
    *ret_value = x < at->n ? at->values[x] : v->kind == ATOM_INDEX ? 0 : v->least;
    return *ret_value >= v->least && *ret_value != NO_VALUE;
}

static bool value_at(const struct polys *p, const struct point *at, poly a, int64_t *ret_value)
{
    *ret_value = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++) {
        const struct monomial *m = &p->polys.items[a].monomials[i];
        int64_t product = m->factor, value;
        for (uint32_t j = 0; j < m->n; j++)
            if (!value_of_atom(p, at, m->atoms[j], &value) || __builtin_mul_overflow(product, value, &product))
                return false;
        if (__builtin_add_overflow(*ret_value, product, ret_value))
            return false;
    }
    return true;
}

static bool all_hold_at(const struct polys *p, const struct point *at, const poly *assumed, uint32_t n)
{
    int64_t value;
    return !ANY(uint32_t, i, n, !value_at(p, at, assumed[i], &value) || value < 0);
}

static bool refutes(const struct polys *p, const struct point *at, const poly *assumed, uint32_t n, poly asked)
{
    int64_t value;
    return value_at(p, at, asked, &value) && value < 0 && all_hold_at(p, at, assumed, n);
}

void points_give(struct points *p, const int64_t *values, size_t n, const poly *assumed, uint32_t n_assumed)
{
    struct point point = {n, values};
    if (!all_hold_at(p->polys, &point, assumed, n_assumed))
        return;
    vec_push(&p->items, point);
    p->n_given = p->items.count;
}

// --- the search ------------------------------------------------------------------------------------------------------

struct search {
    struct points *points;
    uint32_t n_assumed;
    const poly *assumed;
    poly asked;
    int64_t *values;   // NO_VALUE: none yet
    struct point at;   // these
    uint32_t n_indices;
    atom indices[MOST_INDICES];
};

static void collect_index(struct search *s, atom x)
{
    uint32_t last = s->n_indices, i = FIRST_OF(uint32_t, k, last, s->indices[k] >= x);
    if ((i < s->n_indices && s->indices[i] == x) || s->n_indices == MOST_INDICES)
        return;
    for (s->n_indices++; last > i; last--)
        s->indices[last] = s->indices[last - 1];
    s->indices[i] = x;
}

// Indices in ascending order: of sums within sums the outer ones have the lower numbers.
static void collect_indices(struct search *s, poly a)
{
    const struct polys *p = s->points->polys;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++)
        for (uint32_t j = 0; j < p->polys.items[a].monomials[i].n; j++) {
            atom x = p->polys.items[a].monomials[i].atoms[j];
            const struct atom_value *v = &p->atoms.items[x];
            if (v->kind == ATOM_INDEX)
                collect_index(s, x);
            if (v->kind != ATOM_QUOTIENT)
                continue;
            collect_indices(s, v->dividend);
            collect_indices(s, v->divisor);
        }
}

static bool is_moderate(int64_t value)
{
    return value > -MOST_MODERATE && value < MOST_MODERATE;
}

// The polynomial as factor * x + rest, both moderate. False: another atom in it has no value yet, or it is no such sum.
static bool part_at(const struct search *s, poly a, atom x, int64_t *ret_factor, int64_t *ret_rest)
{
    const struct polys *p = s->points->polys;
    *ret_factor = *ret_rest = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++) {
        const struct monomial *m = &p->polys.items[a].monomials[i];
        int64_t product = m->factor, value;
        int n_of_x = 0;
        for (uint32_t j = 0; j < m->n; j++) {
            n_of_x += m->atoms[j] == x;
            if (m->atoms[j] != x &&
                (!value_of_atom(p, &s->at, m->atoms[j], &value) || __builtin_mul_overflow(product, value, &product)))
                return false;
        }
        int64_t *sum = n_of_x ? ret_factor : ret_rest;
        if (n_of_x > 1 || __builtin_add_overflow(*sum, product, sum))
            return false;
    }
    return is_moderate(*ret_factor) && is_moderate(*ret_rest);
}

// The range of x that is left by factor * x + rest >= 0.
static void restrict_range(int64_t factor, int64_t rest, int64_t *low, int64_t *high)
{
    if (factor > 0 && -floor_quotient(rest, factor) > *low)
        *low = -floor_quotient(rest, factor);
    if (factor < 0 && floor_quotient(rest, -factor) < *high)
        *high = floor_quotient(rest, -factor);
}

#define FAR 100
// Either end of a range is tried more often than what is between.
static int64_t choose_between(struct random *r, int64_t low, int64_t high)
{
    uint64_t n = (uint64_t)(high - low) + 1;
    switch (random_below(r, 4)) {
    case 0:
        return low;
    case 1:
        return high;
    default:
        return low + (int64_t)random_below(r, n);
    }
}

// False: nothing is left.
static bool choose_index(struct search *s, atom x)
{
    int64_t low = 0, high = INT64_MAX, factor, rest;
    for (uint32_t i = 0; i < s->n_assumed; i++)
        if (part_at(s, s->assumed[i], x, &factor, &rest))
            restrict_range(factor, rest, &low, &high);
    if (part_at(s, s->asked, x, &factor, &rest))
        restrict_range(-factor, -1 - rest, &low, &high);
    if (low > high)
        return false;
    s->values[x] = choose_between(&s->points->random, low, high == INT64_MAX ? low + FAR : high);
    return true;
}

static bool find_from(struct search *s, const struct point *given)
{
    const struct polys *p = s->points->polys;
    for (atom x = 0; x < s->at.n; x++)
        s->values[x] = x < given->n                            ? given->values[x]
                       : p->atoms.items[x].kind == ATOM_SYMBOL ? p->atoms.items[x].least
                                                               : 0;
    for (uint32_t i = 0; i < s->n_indices; i++)
        s->values[s->indices[i]] = NO_VALUE;
    return ALL(uint32_t, i, s->n_indices, choose_index(s, s->indices[i])) &&
           refutes(p, &s->at, s->assumed, s->n_assumed, s->asked);
}

#define TRIES 40
#define MOST_POINTS 200
static bool find_point(struct points *p, const poly *assumed, uint32_t n, poly asked)
{
    struct arena_mark mark = arena_mark(&p->arena);
    struct search s = {.points = p, .n_assumed = n, .assumed = assumed, .asked = asked};
    s.at.n = p->polys->atoms.count;
    s.at.values = s.values = arena_array(&p->arena, int64_t, s.at.n + 1);
    collect_indices(&s, asked);
    for (uint32_t i = 0; i < n; i++)
        collect_indices(&s, assumed[i]);
    bool is_found = (p->n_given && ANY(uint32_t, i, TRIES, find_from(&s, &p->items.items[i % p->n_given])));
    if (is_found && p->items.count < MOST_POINTS)
        vec_push(&p->items, s.at);
    else
        arena_release(&p->arena, mark);
    return is_found;
}

// The latest ones first: questions come in rows of similar ones.
bool points_refute(struct points *p, const poly *assumed, uint32_t n_assumed, poly asked)
{
    for (size_t i = p->items.count; i-- > 0;)
        if (refutes(p->polys, &p->items.items[i], assumed, n_assumed, asked))
            return true;
    return find_point(p, assumed, n_assumed, asked);
}
