// Sorted sums, hash-consed, and their ring.
#include "verifier/polynomials/ring.h"

#include "core/memory/hash.h"
#include <math.h>
#include <string.h>

// --- hash-consing ----------------------------------------------------------------------------------------------------

static bool has_terms(const void *owner, uint32_t id, const void *key)
{
    const struct polynomial_pool *p = owner;
    const struct term_list *list = key;
    struct pool_range r = p->polynomials.items[id];
    return r.count == list->count &&
           (r.count == 0 || memcmp(p->terms.items + r.first, list->items, r.count * sizeof *list->items) == 0);
}

static polynomial add_new(struct polynomial_pool *p, const struct polynomial_term *terms, uint32_t count)
{
    struct pool_range range = {(uint32_t)p->terms.count, count};
    vec_reserve(&p->terms, p->terms.count + count);
    if (count)
        memcpy(p->terms.items + p->terms.count, terms, count * sizeof *terms);
    p->terms.count += count;
    vec_push(&p->polynomials, range);
    return (uint32_t)p->polynomials.count - 1;
}

// What is one atom is found by that.
static bool is_atom(const struct polynomial_pool *p, const struct polynomial_term *t, uint32_t *ret_atom)
{
    uint32_t factors[MOST_FACTORS];
    if (t->numerator != 1 || t->denominator != 1 || monomial_factors(&p->monomials, t->monomial, factors) != 1)
        return false;
    *ret_atom = factors[0];
    return true;
}

static polynomial find_or_add(struct polynomial_pool *p, const struct polynomial_term *terms, uint32_t count)
{
    uint32_t atom;
    p->work += count + 1;
    if (count == 0)
        return POLYNOMIAL_ZERO;
    if (count == 1 && is_atom(p, terms, &atom))
        return p->of_atoms.items[atom];
    struct term_list key = {terms, count};
    uint64_t hash = hash_bytes(terms, count * sizeof *terms, count);
    uint32_t found = table_find(&p->by_terms, hash, has_terms, p, &key);
    if (found != TABLE_NONE)
        return found;
    polynomial added = add_new(p, terms, count);
    table_insert(&p->by_terms, hash, added);
    return added;
}

static bool is_same_atom(const void *owner, uint32_t id, const void *key)
{
    const struct polynomial_pool *p = owner;
    const struct atom_key *k = key;
    const struct polynomial_atom *x = &p->atoms.items[id], *y = &k->atom;
    if (x->kind != y->kind || x->fn != y->fn || x->b != y->b)
        return false;
    if (x->kind == ATOM_MAXIMUM)
        return memcmp(p->sets.items + x->a, k->members, x->b * sizeof *k->members) == 0;
    return x->a == y->a && x->c == y->c && memcmp(&x->real, &y->real, sizeof x->real) == 0;
}

static uint64_t hash_atom(const struct atom_key *k)
{
    uint64_t hash = hash_mix(k->atom.kind, k->atom.fn);
    if (k->atom.kind == ATOM_MAXIMUM)
        return hash_mix(hash, hash_bytes(k->members, k->atom.b * sizeof *k->members, k->atom.b));
    hash = hash_mix(hash_mix(hash, k->atom.a), hash_mix(k->atom.b, k->atom.c));
    return hash_mix(hash, hash_bytes(&k->atom.real, sizeof k->atom.real, 0));
}

static polynomial add_atom(struct polynomial_pool *p, struct polynomial_atom atom)
{
    uint32_t id = (uint32_t)p->atoms.count;
    struct polynomial_term term = {monomial_of_atom(&p->monomials, id), 1, 1};
    vec_push(&p->atoms, atom);
    vec_push(&p->of_atoms, add_new(p, &term, 1));
    return vec_last(&p->of_atoms);
}

polynomial polynomial_of_atom(struct polynomial_pool *p, struct atom_key key)
{
    uint64_t hash = hash_atom(&key);
    uint32_t id = table_find(&p->by_atom, hash, is_same_atom, p, &key);
    p->work += 2;
    if (id != TABLE_NONE)
        return p->of_atoms.items[id];
    if (key.atom.kind == ATOM_MAXIMUM) {
        key.atom.a = (uint32_t)p->sets.count;
        for (uint32_t i = 0; i < key.atom.b; i++)
            vec_push(&p->sets, key.members[i]);
    }
    table_insert(&p->by_atom, hash, (uint32_t)p->atoms.count);
    return add_atom(p, key.atom);
}

static void add_fixed_polynomials(struct polynomial_pool *p)
{
    struct polynomial_term one = {MONOMIAL_ONE, 1, 1};
    add_new(p, NULL, 0);
    uint64_t hash = hash_bytes(&one, sizeof one, 1);
    table_insert(&p->by_terms, hash, add_new(p, &one, 1));
    polynomial_of_atom(p, (struct atom_key){{.kind = ATOM_LIMIT, .a = 0}, NULL});
    polynomial_of_atom(p, (struct atom_key){{.kind = ATOM_LIMIT, .a = 1}, NULL});
}

void polynomial_pool_init(struct polynomial_pool *p)
{
    *p = (struct polynomial_pool){.work_limit = UINT64_MAX};
    add_fixed_polynomials(p);
}

// Clearing takes as long as a table is large: one that an earlier instance made large is given back.
static void empty_table(struct table *t)
{
    if (t->capacity > 1024 && t->count < t->capacity / 16)
        table_free(t);
    else
        table_clear(t);
}

void polynomial_pool_clear(struct polynomial_pool *p)
{
    vec_clear(&p->terms);
    vec_clear(&p->polynomials);
    monomial_pool_clear(&p->monomials);
    vec_clear(&p->atoms);
    vec_clear(&p->of_atoms);
    vec_clear(&p->variables);
    vec_clear(&p->sets);
    vec_clear(&p->open);
    empty_table(&p->by_terms);
    empty_table(&p->by_atom);
    p->has_overflowed = p->needs_reals = false;
    add_fixed_polynomials(p);
}

void polynomial_pool_free(struct polynomial_pool *p)
{
    vec_free(&p->terms);
    vec_free(&p->polynomials);
    monomial_pool_free(&p->monomials);
    vec_free(&p->atoms);
    vec_free(&p->of_atoms);
    vec_free(&p->variables);
    vec_free(&p->sets);
    vec_free(&p->open);
    vec_free(&p->sorted);
    table_free(&p->by_terms);
    table_free(&p->by_atom);
}

// --- coefficients ----------------------------------------------------------------------------------------------------

static wide greatest_common_divisor(wide a, wide b)
{
    while (b) {
        wide r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

static void set_fraction(struct polynomial_pool *p, struct polynomial_term *t, wide numerator, wide denominator)
{
    if (denominator != 1) {
        wide d = greatest_common_divisor(numerator, denominator);
        if (d > 1) {
            numerator /= d;
            denominator /= d;
        }
    }
    if (numerator > INT64_MAX || numerator < INT64_MIN + 1 || denominator > UINT32_MAX) {
        p->has_overflowed = true;
        numerator = denominator = 1;
    }
    t->numerator = (int64_t)numerator;
    t->denominator = (int64_t)denominator;
}

static void add_fractions(struct polynomial_pool *p, struct polynomial_term *ret, const struct polynomial_term *x,
                          const struct polynomial_term *y)
{
    ret->monomial = x->monomial;
    if (x->denominator == 1 && y->denominator == 1)
        set_fraction(p, ret, (wide)x->numerator + y->numerator, 1);
    else
        set_fraction(p, ret, (wide)x->numerator * y->denominator + (wide)y->numerator * x->denominator,
                     (wide)x->denominator * y->denominator);
}

// Those that are kept, and those of the sums that have been begun: 400 MB each, whatever work there may be.
#define MOST_TERMS ((size_t)1 << 24)
bool polynomial_has_work_left(struct polynomial_pool *p)
{
    p->has_overflowed = p->has_overflowed || p->work > p->work_limit || p->terms.count > MOST_TERMS;
    return !p->has_overflowed;
}

// --- the ring --------------------------------------------------------------------------------------------------------

polynomial polynomial_add(struct polynomial_pool *p, polynomial a, polynomial b)
{
    if (a == POLYNOMIAL_ZERO)
        return b;
    if (b == POLYNOMIAL_ZERO)
        return a;
    struct term_list x = polynomial_terms(p, a), y = polynomial_terms(p, b);
    vec_reserve(&p->sorted, x.count + y.count);
    struct polynomial_term *out = p->sorted.items;
    uint32_t i = 0, j = 0, n = 0;
    while (i < x.count && j < y.count) {
        if (x.items[i].monomial != y.items[j].monomial) {
            bool is_left = x.items[i].monomial < y.items[j].monomial;
            out[n++] = is_left ? x.items[i++] : y.items[j++];
            continue;
        }
        add_fractions(p, &out[n], &x.items[i++], &y.items[j++]);
        n += out[n].numerator != 0;
    }
    while (i < x.count)
        out[n++] = x.items[i++];
    while (j < y.count)
        out[n++] = y.items[j++];
    return find_or_add(p, out, n);
}

static uint32_t end_of_run(const struct polynomial_term *terms, uint32_t from, uint32_t n)
{
    uint32_t end = from + 1;
    while (end < n && terms[end - 1].monomial <= terms[end].monomial)
        end++;
    return end;
}

static void merge_runs(const struct polynomial_term *from, uint32_t i, uint32_t middle, uint32_t end,
                       struct polynomial_term *to)
{
    uint32_t j = middle;
    for (uint32_t k = i; k < end; k++)
        to[k] = j == end || (i < middle && from[i].monomial <= from[j].monomial) ? from[i++] : from[j++];
}

// By merging what is sorted already, which is all as a rule. Gives what was sorted, or a copy.
static struct polynomial_term *sort_terms(struct polynomial_pool *p, struct polynomial_term *terms, uint32_t n)
{
    if (n == 0 || end_of_run(terms, 0, n) == n)
        return terms;
    vec_reserve(&p->sorted, n);
    struct polynomial_term *from = terms, *to = p->sorted.items;
    while (end_of_run(from, 0, n) < n) {
        for (uint32_t begin = 0, end; begin < n; begin = end) {
            uint32_t middle = end_of_run(from, begin, n);
            end = middle < n ? end_of_run(from, middle, n) : n;
            merge_runs(from, begin, middle, end, to);
        }
        struct polynomial_term *other = from;
        from = to;
        to = other;
    }
    return from;
}

// Sorted terms with equal monomials combined and zeros left out.
static uint32_t combine_terms(struct polynomial_pool *p, struct polynomial_term *terms, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept && terms[kept - 1].monomial == terms[i].monomial)
            add_fractions(p, &terms[kept - 1], &terms[kept - 1], &terms[i]);
        else if (kept && terms[kept - 1].numerator == 0)
            terms[kept - 1] = terms[i];
        else
            terms[kept++] = terms[i];
    }
    return kept && terms[kept - 1].numerator == 0 ? kept - 1 : kept;
}

size_t polynomial_sum_begin(const struct polynomial_pool *p)
{
    return p->open.count;
}

void polynomial_sum_add(struct polynomial_pool *p, polynomial a)
{
    struct term_list x = polynomial_terms(p, a);
    p->has_overflowed = p->has_overflowed || p->open.count + x.count > MOST_TERMS;
    if (p->has_overflowed)
        return;
    vec_reserve(&p->open, p->open.count + x.count);
    for (uint32_t i = 0; i < x.count; i++)
        p->open.items[p->open.count++] = x.items[i];
}

static struct polynomial_term multiply_terms(struct polynomial_pool *p, const struct polynomial_term *x,
                                             const struct polynomial_term *y)
{
    struct polynomial_term product = {x->monomial, 1, 1};
    p->has_overflowed |= !monomial_multiply(&p->monomials, x->monomial, y->monomial, &product.monomial);
    if (x->numerator != 1 || x->denominator != 1 || y->numerator != 1 || y->denominator != 1)
        set_fraction(p, &product, (wide)x->numerator * y->numerator, (wide)x->denominator * y->denominator);
    return product;
}

void polynomial_sum_add_product(struct polynomial_pool *p, polynomial a, polynomial b)
{
    struct term_list x = polynomial_terms(p, a), y = polynomial_terms(p, b);
    uint64_t count = (uint64_t)x.count * y.count;
    p->work += count + (x.count < y.count ? x.count : y.count);
    p->has_overflowed = p->has_overflowed || p->open.count + count > MOST_TERMS;
    if (!polynomial_has_work_left(p))
        return;
    vec_reserve(&p->open, p->open.count + count);
    for (uint32_t j = 0; j < y.count; j++)
        for (uint32_t i = 0; i < x.count; i++)
            p->open.items[p->open.count++] = multiply_terms(p, &x.items[i], &y.items[j]);
}

polynomial polynomial_sum_end(struct polynomial_pool *p, size_t begin)
{
    uint32_t n = (uint32_t)(p->open.count - begin);
    struct polynomial_term *terms = sort_terms(p, p->open.items + begin, n);
    n = combine_terms(p, terms, n);
    p->open.count = begin;
    return polynomial_has_work_left(p) ? find_or_add(p, terms, n) : POLYNOMIAL_ZERO;
}

polynomial polynomial_multiply(struct polynomial_pool *p, polynomial a, polynomial b)
{
    if (p->polynomials.items[a].count < p->polynomials.items[b].count) {
        polynomial t = a;
        a = b;
        b = t;
    }
    size_t begin = polynomial_sum_begin(p);
    polynomial_sum_add_product(p, a, b);
    return polynomial_sum_end(p, begin);
}

polynomial polynomial_constant(struct polynomial_pool *p, wide numerator, wide denominator)
{
    struct polynomial_term t = {.monomial = MONOMIAL_ONE};
    if (numerator == 0)
        return POLYNOMIAL_ZERO;
    set_fraction(p, &t, denominator < 0 ? -numerator : numerator, denominator < 0 ? -denominator : denominator);
    return find_or_add(p, &t, 1);
}

polynomial polynomial_scale(struct polynomial_pool *p, polynomial a, int64_t numerator, int64_t denominator)
{
    return polynomial_multiply(p, a, polynomial_constant(p, numerator, denominator));
}

polynomial polynomial_negate(struct polynomial_pool *p, polynomial a)
{
    return polynomial_scale(p, a, -1, 1);
}

// --- what is one atom ------------------------------------------------------------------------------------------------

bool polynomial_is_application(const struct polynomial_pool *p, polynomial a, enum scalar_function fn,
                               polynomial *ret_operand)
{
    struct term_list x = polynomial_terms(p, a);
    uint32_t atom;
    if (x.count != 1 || !is_atom(p, &x.items[0], &atom))
        return false;
    *ret_operand = p->atoms.items[atom].a;
    return p->atoms.items[atom].kind == ATOM_FUNCTION && p->atoms.items[atom].fn == fn;
}

polynomial polynomial_from_real(struct polynomial_pool *p, double value)
{
    double scale = 1;
    if (value == 0)
        return POLYNOMIAL_ZERO;
    while (scale < 65536 && value * scale != rint(value * scale))
        scale *= 2;
    p->needs_reals = p->needs_reals || scale != 1;
    if (fabs(value) < 1e9 && value * scale == rint(value * scale))
        return polynomial_constant(p, (wide)(value * scale), (wide)scale);
    return polynomial_of_atom(p, (struct atom_key){{.kind = ATOM_REAL, .real = value}, NULL});
}

polynomial polynomial_variable(struct polynomial_pool *p, uint32_t number)
{
    while (p->variables.count <= number)
        vec_push(&p->variables,
                 add_atom(p, (struct polynomial_atom){.kind = ATOM_VARIABLE, .a = (uint32_t)p->variables.count}));
    return p->variables.items[number];
}
