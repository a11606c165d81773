// Equality of normal forms: the terms of the difference are matched, two by two, and cancel where their guards overlap.
//
// Two terms match if a renaming of indices, each by plus or minus another and a number that does not depend on them,
// makes their factors equal. The renaming is guessed from places of reads, and what it was guessed to be is checked.
#include "verifier/symbolic/sums.h"

#include <string.h>

#define MOST_DIFFERENCES 128
#define MOST_STEPS 200
#define MOST_GUARDS 96
struct difference {
    struct sums *s;
    uint32_t n_assumed;
    const poly *assumed;
    uint32_t n;
    struct product terms[MOST_DIFFERENCES];
};

struct guards {
    uint32_t n;
    poly items[MOST_GUARDS];
};

static bool add_guards(struct sums *s, struct guards *g, uint32_t n, const poly *items)
{
    for (uint32_t i = 0; i < n; i++) {
        bool is_there = false;
        for (uint32_t j = 0; j < g->n; j++)
            is_there = is_there || g->items[j] == items[i];
        if (!is_there && g->n == MOST_GUARDS)
            return sums_fail(s, "many guards");
        if (!is_there)
            g->items[g->n++] = items[i];
    }
    return true;
}

// --- guessing a renaming ---------------------------------------------------------------------------------------------

struct reads {
    uint32_t n;
    const struct factor *items[32];
};

static void collect_reads(const struct product *t, struct reads *reads)
{
    for (uint32_t i = 0; i < t->n_factors; i++) {
        const struct factor *f = &t->factors[i];
        if (f->kind == FACTOR_READ && reads->n < 32)
            reads->items[reads->n++] = f;
        for (uint32_t j = 0; j < f->n_operands; j++)
            for (uint32_t k = 0; k < f->operands[j]->n; k++)
                collect_reads(&f->operands[j]->terms[k], reads);
    }
}

struct renaming {
    struct difference *d;
    const struct product *x, *y;   // y's indices are to become x's
    struct reads of_x, of_y;
    size_t n_map;
    poly *map;   // of y's indices; NO_POLY: not known yet
    uint32_t tries;
};

// One index of y that is not known yet is what makes the places equal. False: they differ whatever it is.
static bool solve_places(struct renaming *r, poly x, poly y)
{
    struct polys *p = r->d->s->polys;
    poly difference = poly_sub(p, x, poly_substitute(p, y, r->map, r->n_map));
    int64_t number;
    if (poly_is_const(p, difference, &number))
        return number == 0;
    for (uint32_t i = 0; i < r->y->n_indices; i++) {
        atom u = r->y->indices[i];
        const struct poly_value v = p->polys.items[difference];
        if (r->map[u] != NO_POLY)
            continue;
        for (uint32_t j = 0; j < v.n; j++) {
            const struct monomial *m = &v.monomials[j];
            if (m->n != 1 || m->atoms[0] != u || (m->factor != 1 && m->factor != -1))
                continue;
            poly rest = poly_sub(p, difference, poly_scale(p, poly_of_atom(p, u), m->factor));
            if (!poly_mentions(p, rest, u)) {
                r->map[u] = poly_scale(p, rest, -m->factor);
                return true;
            }
        }
    }
    return true;   // seen later
}

// Is the renaming of each index plus or minus another of x's, all different, and a number?
static bool is_one_to_one(const struct renaming *r)
{
    struct polys *p = r->d->s->polys;
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->y->n_indices; i++) {
        poly value = r->map[r->y->indices[i]];
        int found = -1;
        for (uint32_t j = 0; j < r->y->n_indices; j++)
            if (value == NO_POLY || poly_mentions(p, value, r->y->indices[j]))
                return false;
        for (uint32_t j = 0; j < r->x->n_indices; j++) {
            if (!poly_mentions(p, value, r->x->indices[j]))
                continue;
            poly x = poly_of_atom(p, r->x->indices[j]);
            bool is_shift = !poly_mentions(p, poly_sub(p, value, x), r->x->indices[j]) ||
                            !poly_mentions(p, poly_add(p, value, x), r->x->indices[j]);
            if (found >= 0 || !is_shift || (used >> j & 1))
                return false;
            found = (int)j;
        }
        if (found < 0)
            return false;
        used |= (uint64_t)1 << found;
    }
    return true;
}

static void match_left_indices(struct renaming *r)
{
    struct polys *p = r->d->s->polys;
    for (uint32_t i = 0; i < r->y->n_indices; i++)
        for (uint32_t j = 0; r->map[r->y->indices[i]] == NO_POLY && j < r->x->n_indices; j++) {
            bool is_used = false;
            for (uint32_t k = 0; k < r->y->n_indices; k++) {
                poly value = r->map[r->y->indices[k]];
                is_used = is_used || (value != NO_POLY && poly_mentions(p, value, r->x->indices[j]));
            }
            if (!is_used)
                r->map[r->y->indices[i]] = poly_of_atom(p, r->x->indices[j]);
        }
}

// --- checking it -----------------------------------------------------------------------------------------------------

static bool factors_equal(struct sums *s, const struct guards *g, const struct factor *x, const struct factor *y)
{
    if (x->kind != y->kind || x->name != y->name || x->real != y->real || x->n_places != y->n_places ||
        x->n_operands != y->n_operands)
        return false;
    for (uint32_t i = 0; i < x->n_places; i++)
        if (!entails_equal(s->entails, g->items, g->n, x->places[i], y->places[i]))
            return false;
    for (uint32_t i = 0; i < x->n_operands; i++)
        if (!sums_equal(s, g->items, g->n, x->operands[i], y->operands[i]))
            return false;
    return true;
}

static bool all_factors_equal(struct sums *s, const struct guards *g, const struct product *x, const struct product *y)
{
    uint64_t used = 0;
    if (x->n_factors != y->n_factors || x->n_factors > 64)
        return false;
    for (uint32_t i = 0; i < x->n_factors; i++) {
        uint32_t j = 0;
        while (j < y->n_factors && ((used >> j & 1) || !factors_equal(s, g, &x->factors[i], &y->factors[j])))
            j++;
        if (j == y->n_factors)
            return false;
        used |= (uint64_t)1 << j;
    }
    return true;
}

static bool have_alike_factors(const struct product *x, const struct product *y)
{
    uint64_t used = 0;
    if (x->n_factors != y->n_factors || x->n_indices != y->n_indices || x->n_factors > 64 || x->n_indices > 60)
        return false;
    for (uint32_t i = 0; i < x->n_factors; i++) {
        uint32_t j = 0;
        while (j < y->n_factors && ((used >> j & 1) || x->factors[i].kind != y->factors[j].kind ||
                                    x->factors[i].name != y->factors[j].name))
            j++;
        if (j == y->n_factors)
            return false;
        used |= (uint64_t)1 << j;
    }
    return true;
}

// The guards of both terms together; false: they never hold together.
static bool overlap(struct difference *d, const struct product *x, const struct product *y, struct guards *ret)
{
    ret->n = 0;
    return add_guards(d->s, ret, d->n_assumed, d->assumed) && add_guards(d->s, ret, x->n_guards, x->guards) &&
           add_guards(d->s, ret, y->n_guards, y->guards) && !entails_nothing(d->s->entails, ret->items, ret->n);
}

static bool check_renaming(struct renaming *r, struct product *ret_renamed)
{
    struct guards g;
    poly *before = arena_copy_array(r->d->s->arena, r->map, r->n_map);
    match_left_indices(r);
    r->tries++;
    bool is_right = is_one_to_one(r);
    if (is_right) {
        *ret_renamed = product_substitute(r->d->s, r->y, r->map, r->n_map);
        ret_renamed->n_indices = r->x->n_indices;
        ret_renamed->indices = r->x->indices;
        is_right = overlap(r->d, r->x, ret_renamed, &g) && all_factors_equal(r->d->s, &g, r->x, ret_renamed);
    }
    memcpy(r->map, before, r->n_map * sizeof *before);
    return is_right;
}

// The reads of y from the i-th on are paired with those of x that are not used.
#define MOST_TRIES 24
static bool pair_reads(struct renaming *r, uint32_t i, uint32_t used, struct product *ret_renamed)
{
    if (r->d->s->why || r->tries > MOST_TRIES)
        return false;
    if (i == r->of_y.n)
        return check_renaming(r, ret_renamed);
    poly *before = arena_copy_array(r->d->s->arena, r->map, r->n_map);
    for (uint32_t j = 0; j < r->of_x.n; j++) {
        const struct factor *x = r->of_x.items[j], *y = r->of_y.items[i];
        bool fits = !(used >> j & 1) && x->name == y->name && x->n_places == y->n_places;
        for (uint32_t k = 0; fits && k < x->n_places; k++)
            fits = solve_places(r, x->places[k], y->places[k]);
        if (fits && pair_reads(r, i + 1, used | 1u << j, ret_renamed))
            return true;
        memcpy(r->map, before, r->n_map * sizeof *before);
    }
    return false;
}

static bool match(struct difference *d, const struct product *x, const struct product *y, struct product *ret_renamed)
{
    struct product fresh = product_with_fresh_indices(d->s, y);
    struct renaming r = {.d = d, .x = x, .y = &fresh, .n_map = d->s->polys->atoms.count};
    r.map = arena_array(d->s->arena, poly, r.n_map + 1);
    for (size_t i = 0; i < r.n_map; i++)
        r.map[i] = NO_POLY;
    if (!have_alike_factors(x, &fresh))
        return false;
    collect_reads(x, &r.of_x);
    collect_reads(&fresh, &r.of_y);
    return r.of_x.n == r.of_y.n && r.of_x.n < 32 && pair_reads(&r, 0, 0, ret_renamed);
}

// --- cancelling ------------------------------------------------------------------------------------------------------

static bool add_term(struct difference *d, const struct product *t, const struct guards *g)
{
    struct product copy = *t;
    copy.n_guards = g->n;
    copy.guards = arena_copy_array(d->s->arena, g->items, g->n);
    if (d->n == MOST_DIFFERENCES)
        return sums_fail(d->s, "a difference of many terms");
    d->terms[d->n++] = copy;
    return true;
}

// The term where its own guards hold, and not all of the others.
static void add_rest(struct difference *d, const struct product *t, const struct product *others)
{
    struct guards own = {0}, all = {0};
    add_guards(d->s, &own, t->n_guards, t->guards);
    add_guards(d->s, &all, d->n_assumed, d->assumed);
    add_guards(d->s, &all, t->n_guards, t->guards);
    for (uint32_t i = 0; i < others->n_guards && !d->s->why; i++) {
        poly guard = others->guards[i], not = poly_negated(d->s->polys, guard);
        if (entails(d->s->entails, all.items, all.n, guard))
            continue;
        struct guards of_piece = own, with_assumed = all;
        if (add_guards(d->s, &of_piece, 1, &not ) && add_guards(d->s, &with_assumed, 1, &not ) &&
            !entails_nothing(d->s->entails, with_assumed.items, with_assumed.n))
            add_term(d, t, &of_piece);
        add_guards(d->s, &own, 1, &guard);
        add_guards(d->s, &all, 1, &guard);
    }
}

static bool cancel(struct difference *d, uint32_t i, uint32_t j)
{
    struct product x = d->terms[i], y;
    struct guards both = {0};
    if (!match(d, &x, &d->terms[j], &y))
        return false;
    d->terms[j] = d->terms[--d->n];
    d->terms[i] = d->terms[--d->n];
    add_rest(d, &x, &y);
    add_rest(d, &y, &x);
    add_guards(d->s, &both, x.n_guards, x.guards);
    add_guards(d->s, &both, y.n_guards, y.guards);
    x.coefficient += y.coefficient;
    if (x.coefficient != 0)
        add_term(d, &x, &both);
    return true;
}

static bool cancel_some(struct difference *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t j = i + 1; j < d->n && !d->s->why; j++)
            if (cancel(d, i, j))
                return true;
    return false;
}

static void add_terms(struct difference *d, const struct sum *a, double sign)
{
    for (uint32_t i = 0; i < a->n && !d->s->why; i++) {
        struct product t = a->terms[i];
        struct guards g = {0}, own = {0};
        t.coefficient *= sign;
        add_guards(d->s, &own, t.n_guards, t.guards);
        add_guards(d->s, &g, d->n_assumed, d->assumed);
        add_guards(d->s, &g, t.n_guards, t.guards);
        if (t.n_guards == 0 || !entails_nothing(d->s->entails, g.items, g.n))
            add_term(d, &t, &own);
    }
}

bool sums_equal(struct sums *s, const poly *assumed, uint32_t n_assumed, const struct sum *a, const struct sum *b)
{
    struct difference *d = arena_new(s->arena, struct difference);
    d->s = s;
    d->assumed = assumed;
    d->n_assumed = n_assumed;
    add_terms(d, a, 1);
    add_terms(d, b, -1);
    for (int i = 0; i < MOST_STEPS && d->n > 0 && !s->why; i++)
        if (!cancel_some(d))
            break;
    return d->n == 0 && !s->why;
}
