// Polynomials are kept once each, sorted, in a table by value.
#include "verifier/inequalities/polys.h"

#include "core/memory/hash.h"
#include "core/numbers/integers.h"
#include <assert.h>
#include <string.h>

#define MOST_MONOMIALS 64
struct sum_of_monomials {
    uint32_t n;
    struct monomial items[MOST_MONOMIALS];   // the first n: setting all of them would take longer than most sums
};

// --- the pool --------------------------------------------------------------------------------------------------------

static bool has_value(const void *owner, uint32_t id, const void *key)
{
    const struct polys *p = owner;
    const struct poly_value *x = &p->polys.items[id], *y = key;
    return x->n == y->n && (x->n == 0 || memcmp(x->monomials, y->monomials, x->n * sizeof *x->monomials) == 0);
}

static poly intern(struct polys *p, uint32_t n, const struct monomial *items)
{
    struct poly_value value = {n, items};
    uint64_t hash = hash_bytes(items, n * sizeof *items, 1);
    uint32_t found = table_find(&p->by_value, hash, has_value, p, &value);
    if (found != TABLE_NONE)
        return found;
    value.monomials = arena_copy_array(&p->arena, items, n);
    vec_push(&p->polys, value);
    table_insert(&p->by_value, hash, (uint32_t)p->polys.count - 1);
    return (poly)p->polys.count - 1;
}

void polys_init(struct polys *p)
{
    *p = (struct polys){0};
    poly zero = intern(p, 0, &(struct monomial){0});
    assert(zero == POLY_ZERO);
    (void)zero;
}

void polys_free(struct polys *p)
{
    vecs_free(p, polys, atoms);
    table_free(&p->by_value);
    arena_free(&p->arena);
}

static atom add_atom(struct polys *p, struct atom_value value)
{
    vec_push(&p->atoms, value);
    return (atom)p->atoms.count - 1;
}

atom atom_symbol(struct polys *p, int64_t least)
{
    return add_atom(p, (struct atom_value){.kind = ATOM_SYMBOL, .least = least});
}

atom atom_index(struct polys *p, int level)
{
    return add_atom(p, (struct atom_value){.kind = ATOM_INDEX, .level = level, .least = 0});
}

// --- arithmetic ------------------------------------------------------------------------------------------------------

static int compare_atoms(const struct monomial *a, const struct monomial *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return memcmp(a->atoms, b->atoms, a->n * sizeof *a->atoms);
}

static void add_monomial(struct polys *p, struct sum_of_monomials *s, const struct monomial *m)
{
    uint32_t i = 0;
    while (i < s->n && compare_atoms(&s->items[i], m) < 0)
        i++;
    if (i < s->n && compare_atoms(&s->items[i], m) == 0) {
        p->has_failed |= __builtin_add_overflow(s->items[i].factor, m->factor, &s->items[i].factor);
        if (s->items[i].factor == 0)
            memmove(&s->items[i], &s->items[i + 1], (--s->n - i) * sizeof *s->items);
        return;
    }
    if (s->n == MOST_MONOMIALS || m->factor == 0) {
        p->has_failed |= m->factor != 0;
        return;
    }
    memmove(&s->items[i + 1], &s->items[i], (s->n++ - i) * sizeof *s->items);
    s->items[i] = *m;
}

static void add_scaled(struct polys *p, struct sum_of_monomials *s, poly a, int64_t factor)
{
    for (uint32_t i = 0; i < p->polys.items[a].n; i++) {
        struct monomial m = p->polys.items[a].monomials[i];
        p->has_failed |= __builtin_mul_overflow(m.factor, factor, &m.factor);
        add_monomial(p, s, &m);
    }
}

poly poly_of_atom(struct polys *p, atom a)
{
    return intern(p, 1, &(struct monomial){1, 1, {a}});
}

poly poly_const(struct polys *p, int64_t value)
{
    return value == 0 ? POLY_ZERO : intern(p, 1, &(struct monomial){.factor = value});
}

bool poly_is_const(const struct polys *p, poly a, int64_t *ret_value)
{
    const struct poly_value *v = a == NO_POLY ? NULL : &p->polys.items[a];
    *ret_value = v && v->n ? v->monomials[0].factor : 0;
    return v && (v->n == 0 || (v->n == 1 && v->monomials[0].n == 0));
}

bool poly_is_atom(const struct polys *p, poly a, atom *ret_atom)
{
    const struct poly_value *v = &p->polys.items[a];
    bool is_atom = v->n == 1 && v->monomials[0].n == 1 && v->monomials[0].factor == 1;
    *ret_atom = is_atom ? v->monomials[0].atoms[0] : 0;
    return is_atom;
}

static poly combination(struct polys *p, poly a, int64_t factor_of_a, poly b, int64_t factor_of_b)
{
    struct sum_of_monomials s;
    if (a == NO_POLY || b == NO_POLY)
        return NO_POLY;
    s.n = 0;
    add_scaled(p, &s, a, factor_of_a);
    add_scaled(p, &s, b, factor_of_b);
    return intern(p, s.n, s.items);
}

poly poly_add(struct polys *p, poly a, poly b)
{
    return combination(p, a, 1, b, 1);
}

poly poly_sub(struct polys *p, poly a, poly b)
{
    return combination(p, a, 1, b, -1);
}

poly poly_scale(struct polys *p, poly a, int64_t factor)
{
    return combination(p, a, factor, POLY_ZERO, 0);
}

static bool multiply(const struct monomial *a, const struct monomial *b, struct monomial *ret)
{
    uint32_t i = 0, j = 0;
    *ret = (struct monomial){0};
    if (a->n + b->n > MOST_ATOMS || __builtin_mul_overflow(a->factor, b->factor, &ret->factor))
        return false;
    while (i < a->n || j < b->n)
        ret->atoms[ret->n++] = j == b->n || (i < a->n && a->atoms[i] <= b->atoms[j]) ? a->atoms[i++] : b->atoms[j++];
    return true;
}

poly poly_mul(struct polys *p, poly a, poly b)
{
    struct sum_of_monomials s;
    struct monomial product;
    if (a == NO_POLY || b == NO_POLY)
        return NO_POLY;
    s.n = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++)
        for (uint32_t j = 0; j < p->polys.items[b].n; j++)
            if (multiply(&p->polys.items[a].monomials[i], &p->polys.items[b].monomials[j], &product))
                add_monomial(p, &s, &product);
            else
                p->has_failed = true;
    return intern(p, s.n, s.items);
}

// --- division --------------------------------------------------------------------------------------------------------

static bool divide_monomial(const struct monomial *a, const struct monomial *b, struct monomial *ret)
{
    uint32_t j = 0;
    *ret = (struct monomial){0};
    if (a->factor % b->factor != 0)
        return false;
    ret->factor = a->factor / b->factor;
    for (uint32_t i = 0; i < a->n; i++)
        if (j < b->n && a->atoms[i] == b->atoms[j])
            j++;
        else
            ret->atoms[ret->n++] = a->atoms[i];
    return j == b->n;
}

// The multiples of the monomial b in a, divided, and the rest.
static void divide_parts(struct polys *p, poly a, const struct monomial *b, struct sum_of_monomials *quotient,
                         struct sum_of_monomials *rest)
{
    struct monomial m;
    quotient->n = rest->n = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++)
        if (divide_monomial(&p->polys.items[a].monomials[i], b, &m))
            add_monomial(p, quotient, &m);
        else
            add_monomial(p, rest, &p->polys.items[a].monomials[i]);
}

bool poly_divide(struct polys *p, poly a, poly b, poly *ret_quotient)
{
    struct sum_of_monomials quotient, rest;
    if (a == NO_POLY || b == NO_POLY || p->polys.items[b].n != 1)
        return false;
    divide_parts(p, a, &p->polys.items[b].monomials[0], &quotient, &rest);
    *ret_quotient = intern(p, quotient.n, quotient.items);
    return rest.n == 0;
}

static poly quotient_atom(struct polys *p, poly a, poly b)
{
    for (atom x = 0; x < p->atoms.count; x++)
        if (p->atoms.items[x].kind == ATOM_QUOTIENT && p->atoms.items[x].dividend == a &&
            p->atoms.items[x].divisor == b)
            return poly_of_atom(p, x);
    int of_a = poly_level(p, a), of_b = poly_level(p, b);
    return poly_of_atom(p, add_atom(p, (struct atom_value){.kind = ATOM_QUOTIENT,
                                                           .level = of_a > of_b ? of_a : of_b,
                                                           .least = INT64_MIN,
                                                           .dividend = a,
                                                           .divisor = b}));
}

// floor((b * q + r) / b) = q + floor(r / b); and of numbers it is a number.
poly poly_floor(struct polys *p, poly a, poly b)
{
    struct sum_of_monomials quotient, rest;
    int64_t divisor = 0, value = 0;
    if (a == NO_POLY || b == NO_POLY)
        return NO_POLY;
    if (p->polys.items[b].n != 1)
        return a == b ? poly_const(p, 1) : quotient_atom(p, a, b);
    divide_parts(p, a, &p->polys.items[b].monomials[0], &quotient, &rest);
    poly whole = intern(p, quotient.n, quotient.items), left = intern(p, rest.n, rest.items);
    bool is_number = poly_is_const(p, b, &divisor) && poly_is_const(p, left, &value);
    if (is_number && (value < 0 || value >= divisor))
        return poly_add(p, whole, poly_const(p, floor_quotient(value, divisor)));
    return left == POLY_ZERO || is_number ? whole : poly_add(p, whole, quotient_atom(p, left, b));
}

poly poly_mod(struct polys *p, poly a, poly b)
{
    return poly_sub(p, a, poly_mul(p, b, poly_floor(p, a, b)));
}

// --- atoms -----------------------------------------------------------------------------------------------------------

static poly substitute_atom(struct polys *p, atom x, const poly *map, size_t n_map)
{
    struct atom_value v = p->atoms.items[x];
    if (x < n_map && map[x] != NO_POLY)
        return map[x];
    if (v.kind != ATOM_QUOTIENT)
        return poly_of_atom(p, x);
    poly a = poly_substitute(p, v.dividend, map, n_map), b = poly_substitute(p, v.divisor, map, n_map);
    return poly_floor(p, a, b);
}

poly poly_substitute(struct polys *p, poly a, const poly *map, size_t n_map)
{
    poly sum = a == NO_POLY ? NO_POLY : POLY_ZERO;
    for (uint32_t i = 0; a != NO_POLY && i < p->polys.items[a].n; i++) {
        struct monomial m = p->polys.items[a].monomials[i];
        poly product = poly_const(p, m.factor);
        for (uint32_t j = 0; j < m.n; j++)
            product = poly_mul(p, product, substitute_atom(p, m.atoms[j], map, n_map));
        sum = poly_add(p, sum, product);
    }
    return sum;
}

bool poly_mentions(const struct polys *p, poly a, atom x)
{
    for (uint32_t i = 0; i < p->polys.items[a].n; i++)
        for (uint32_t j = 0; j < p->polys.items[a].monomials[i].n; j++) {
            atom y = p->polys.items[a].monomials[i].atoms[j];
            const struct atom_value *v = &p->atoms.items[y];
            if (y == x ||
                (v->kind == ATOM_QUOTIENT && (poly_mentions(p, v->dividend, x) || poly_mentions(p, v->divisor, x))))
                return true;
        }
    return false;
}

int poly_level(const struct polys *p, poly a)
{
    int level = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++)
        level = LARGEST(int, level, uint32_t, j, p->polys.items[a].monomials[i].n,
                        p->atoms.items[p->polys.items[a].monomials[i].atoms[j]].level);
    return level;
}

static bool evaluate_atom(const struct polys *p, atom x, const int64_t *symbols, int64_t *ret_value)
{
    const struct atom_value *v = &p->atoms.items[x];
    int64_t a, b;
    *ret_value = v->kind == ATOM_SYMBOL ? symbols[x] : 0;
    if (v->kind != ATOM_QUOTIENT)
        return v->kind == ATOM_SYMBOL;
    if (!poly_evaluate(p, v->dividend, symbols, &a) || !poly_evaluate(p, v->divisor, symbols, &b) || b < 1)
        return false;
    *ret_value = floor_quotient(a, b);
    return true;
}

bool poly_evaluate(const struct polys *p, poly a, const int64_t *symbols, int64_t *ret_value)
{
    *ret_value = 0;
    for (uint32_t i = 0; i < p->polys.items[a].n; i++) {
        const struct monomial *m = &p->polys.items[a].monomials[i];
        int64_t product = m->factor, value;
        for (uint32_t j = 0; j < m->n; j++)
            if (!evaluate_atom(p, m->atoms[j], symbols, &value) || __builtin_mul_overflow(product, value, &product))
                return false;
        if (__builtin_add_overflow(*ret_value, product, ret_value))
            return false;
    }
    return true;
}

// --- signs -----------------------------------------------------------------------------------------------------------

// Adds what the product of the atoms and the factor is at least. False: it has no known bound, or a large one.
static bool add_least(const struct polys *p, const struct monomial *m, int64_t factor, int64_t *sum)
{
    if (factor < 0 && m->n > 0)
        return false;
    int64_t product = factor;
    for (uint32_t i = 0; factor != 0 && i < m->n; i++) {
        int64_t least = p->atoms.items[m->atoms[i]].least;
        if (least < 0 || __builtin_mul_overflow(product, least, &product))
            return false;
    }
    return !__builtin_add_overflow(*sum, product, sum);
}

// Both are ascending, and equal monomials meet.
bool poly_is_never_less(const struct polys *p, poly a, poly b)
{
    if (a == NO_POLY || b == NO_POLY)
        return false;
    const struct poly_value *x = &p->polys.items[a], *y = &p->polys.items[b];
    int64_t sum = 0, factor;
    for (uint32_t i = 0, j = 0; i < x->n || j < y->n;) {
        int order = i == x->n ? 1 : j == y->n ? -1 : compare_atoms(&x->monomials[i], &y->monomials[j]);
        const struct monomial *m = order <= 0 ? &x->monomials[i] : &y->monomials[j];
        if (__builtin_sub_overflow(order <= 0 ? x->monomials[i++].factor : 0, order >= 0 ? y->monomials[j++].factor : 0,
                                   &factor) ||
            !add_least(p, m, factor, &sum))
            return false;
    }
    return sum >= 0;
}
