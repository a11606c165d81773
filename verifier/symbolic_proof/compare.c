// Equality of normal forms: the terms of the difference are matched, two by two, and cancel where their guards overlap.
//
// Two terms match if a renaming of indices, each by plus or minus another and a number that does not depend on them,
// makes their factors equal. The renaming is guessed from places of reads, and what it was guessed to be is checked.
#include "verifier/symbolic_proof/compare.h"

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
        bool is_there = ANY(uint32_t, j, g->n, g->items[j] == items[i]);
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
    EACH(t->factors, t->n_factors, f) {
        if (f->kind == FACTOR_READ && reads->n < 32)
            reads->items[reads->n++] = f;
        for (uint32_t j = 0; j < f->n_operands; j++)
            for (uint32_t k = 0; k < f->operands[j]->n; k++)
                collect_reads(&f->operands[j]->terms[k], reads);
    }
}

// Two terms that are equal where the guards of both hold. An index is at least 0 in its own term alone: what is beyond
// the other term is asked for in these.
struct matched {
    struct product y, y_in_indices_of_x;
    struct product x_in_indices_of_y;   // its guards
};

struct renaming {
    struct difference *d;
    const struct product *x, *y;   // y's indices are to become x's
    struct reads of_x, of_y;
    size_t n_map;
    poly *map;   // of y's indices; NO_POLY: not known yet
    uint32_t tries;
};

// An index of y that is not known yet is what makes the places equal. False: they differ whatever it is.
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
        EACH(v.monomials, v.n, m) {
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

// The one index of x that the value is, plus or minus, but for a number. False: it is of no such form.
static bool find_index(const struct renaming *r, poly value, uint32_t *ret_place, int *ret_sign)
{
    struct polys *p = r->d->s->polys;
    int n_found = 0;
    for (uint32_t j = 0; j < r->x->n_indices; j++) {
        if (!poly_mentions(p, value, r->x->indices[j]))
            continue;
        poly x = poly_of_atom(p, r->x->indices[j]);
        bool is_plus = !poly_mentions(p, poly_sub(p, value, x), r->x->indices[j]);
        bool is_minus = !poly_mentions(p, poly_add(p, value, x), r->x->indices[j]);
        n_found += is_plus || is_minus ? 1 : 2;
        *ret_place = j;
        *ret_sign = is_plus ? 1 : -1;
    }
    return n_found == 1;
}

// Sums within factors run over indices of the same levels, or deeper ones, which say nothing outside of them.
static bool stands_outside(const struct renaming *r, poly number)
{
    const struct polys *p = r->d->s->polys;
    return ALL(uint32_t, j, r->x->n_indices, poly_level(p, number) < p->atoms.items[r->x->indices[j]].level);
}

// Is the renaming of each index plus or minus another of x's, all different, and a number? It is turned round as well.
static bool is_one_to_one(const struct renaming *r, poly *ret_back)
{
    struct polys *p = r->d->s->polys;
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->y->n_indices; i++) {
        poly value = r->map[r->y->indices[i]], u = poly_of_atom(p, r->y->indices[i]);
        uint32_t place;
        int sign;
        if (ANY(uint32_t, j, r->y->n_indices, value == NO_POLY || poly_mentions(p, value, r->y->indices[j])))
            return false;
        if (!find_index(r, value, &place, &sign) || (used >> place & 1))
            return false;
        used |= (uint64_t)1 << place;
        poly x = poly_of_atom(p, r->x->indices[place]), number = poly_sub(p, value, poly_scale(p, x, sign));
        if (!stands_outside(r, number))
            return false;
        ret_back[r->x->indices[place]] = poly_scale(p, poly_sub(p, u, number), sign);
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
    return ALL(uint32_t, i, x->n_places, entails_equal(s->entails, g->items, g->n, x->places[i], y->places[i])) &&
           ALL(uint32_t, i, x->n_operands, sums_equal(s, g->items, g->n, x->operands[i], y->operands[i]));
}

// Do the factors of both go together, one with one, as equal ones; or, without guards, as such of one kind and name?
static bool all_factors_pair(struct sums *s, const struct guards *g, const struct product *x, const struct product *y)
{
    uint64_t used = 0;
    if (x->n_factors != y->n_factors || x->n_factors > 64)
        return false;
    for (uint32_t i = 0; i < x->n_factors; i++) {
        const struct factor *a = &x->factors[i], *b = y->factors;
        uint32_t j = FIRST_OF(uint32_t, k, y->n_factors,
                              !(used >> k & 1) && a->kind == b[k].kind && a->name == b[k].name &&
                                  (!g || factors_equal(s, g, a, &b[k])));
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

static bool check_renaming(struct renaming *r, struct matched *ret)
{
    struct guards g;
    struct sums *s = r->d->s;
    poly *before = arena_copy_array(s->arena, r->map, r->n_map), *back = arena_array(s->arena, poly, r->n_map + 1);
    for (size_t i = 0; i < r->n_map; i++)
        back[i] = NO_POLY;
    match_left_indices(r);
    r->tries++;
    bool is_right = is_one_to_one(r, back);
    if (is_right) {
        struct product guards_of_x = {.n_guards = r->x->n_guards, .guards = r->x->guards};
        ret->y = *r->y;
        ret->x_in_indices_of_y = product_substitute(s, &guards_of_x, back, r->n_map);
        ret->y_in_indices_of_x = product_substitute(s, r->y, r->map, r->n_map);
        ret->y_in_indices_of_x.n_indices = r->x->n_indices;
        ret->y_in_indices_of_x.indices = r->x->indices;
        is_right =
            overlap(r->d, r->x, &ret->y_in_indices_of_x, &g) && all_factors_pair(s, &g, r->x, &ret->y_in_indices_of_x);
    }
    memcpy(r->map, before, r->n_map * sizeof *before);
    return is_right;
}

#define MOST_TRIES 24
// The reads of y from the i-th on are paired with those of x that are not used.
static bool pair_reads(struct renaming *r, uint32_t i, uint32_t used, struct matched *ret)
{
    if (r->d->s->why || r->tries > MOST_TRIES || !sums_have_room(r->d->s))
        return false;
    if (i == r->of_y.n)
        return check_renaming(r, ret);
    poly *before = arena_copy_array(r->d->s->arena, r->map, r->n_map);
    for (uint32_t j = 0; j < r->of_x.n; j++) {
        const struct factor *x = r->of_x.items[j], *y = r->of_y.items[i];
        bool fits = !(used >> j & 1) && x->name == y->name && x->n_places == y->n_places &&
                    ALL(uint32_t, k, x->n_places, solve_places(r, x->places[k], y->places[k]));
        if (fits && pair_reads(r, i + 1, used | 1u << j, ret))
            return true;
        memcpy(r->map, before, r->n_map * sizeof *before);
    }
    return false;
}

static bool match(struct difference *d, const struct product *x, const struct product *y, struct matched *ret)
{
    struct product fresh = product_with_fresh_indices(d->s, y);
    struct renaming r = {.d = d, .x = x, .y = &fresh, .n_map = d->s->polys->atoms.count};
    r.map = arena_array(d->s->arena, poly, r.n_map + 1);
    for (size_t i = 0; i < r.n_map; i++)
        r.map[i] = NO_POLY;
    if (x->n_indices != fresh.n_indices || x->n_indices > 60 || !all_factors_pair(NULL, NULL, x, &fresh))
        return false;
    if (x->n_indices == 0)   // there is nothing to rename
        return sums_have_room(d->s) && check_renaming(&r, ret);
    collect_reads(x, &r.of_x);
    collect_reads(&fresh, &r.of_y);
    return r.of_x.n == r.of_y.n && r.of_x.n < 32 && pair_reads(&r, 0, 0, ret);
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
    struct product x = d->terms[i];
    struct matched m;
    struct guards both = {0};
    if (!match(d, &x, &d->terms[j], &m))
        return false;
    d->terms[j] = d->terms[--d->n];
    d->terms[i] = d->terms[--d->n];
    add_rest(d, &x, &m.y_in_indices_of_x);
    add_rest(d, &m.y, &m.x_in_indices_of_y);
    add_guards(d->s, &both, x.n_guards, x.guards);
    add_guards(d->s, &both, m.y_in_indices_of_x.n_guards, m.y_in_indices_of_x.guards);
    x.coefficient = rational_sum(x.coefficient, m.y.coefficient);
    if (!rational_is_small(x.coefficient))
        return sums_fail(d->s, "a coefficient of large integers");
    if (x.coefficient.n != 0)
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

static void add_terms(struct difference *d, const struct sum *a, int sign)
{
    for (uint32_t i = 0; i < a->n && !d->s->why; i++) {
        struct product t = a->terms[i];
        struct guards g = {0}, own = {0};
        t.coefficient.n *= sign;
        add_guards(d->s, &own, t.n_guards, t.guards);
        add_guards(d->s, &g, d->n_assumed, d->assumed);
        add_guards(d->s, &g, t.n_guards, t.guards);
        if (t.n_guards == 0 || !entails_nothing(d->s->entails, g.items, g.n))
            add_term(d, &t, &own);
    }
}

static bool cancel_all(struct difference *d)
{
    for (int i = 0; i < MOST_STEPS && d->n > 0 && !d->s->why; i++)
        if (!cancel_some(d))
            break;
    return d->n == 0 && !d->s->why;
}

// A sum over few places is the sum of its terms, of which others may be equal to one. False: nothing is such a sum, or
// the terms are too many.
static bool write_out(struct difference *d)
{
    bool is_written = false;
    atom index;
    int64_t places;
    for (uint32_t i = 0; i < d->n; i++) {
        struct product t = d->terms[i];
        if (!product_find_short_index(d->s, &t, &index, &places))
            continue;
        if (d->n + (uint32_t)places > MOST_DIFFERENCES)
            return false;
        d->terms[i] = d->terms[--d->n];
        for (int64_t place = 0; place < places; place++)
            d->n += product_at_place(d->s, &t, index, place, &d->terms[d->n]);
        is_written = true;
        i = UINT32_MAX;   // from the first one again
    }
    return is_written;
}

bool sums_equal(struct sums *s, const poly *assumed, uint32_t n_assumed, const struct sum *a, const struct sum *b)
{
    struct difference *d = arena_new(s->arena, struct difference);
    d->s = s;
    d->assumed = assumed;
    d->n_assumed = n_assumed;
    add_terms(d, a, 1);
    add_terms(d, b, -1);
    return cancel_all(d) || (!s->why && write_out(d) && cancel_all(d));
}
