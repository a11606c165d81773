// Sorted sums, hash-consed, with maxima as sets and other functions as atoms.
#include "verifier/polynomials/polynomial.h"

#include "core/memory/hash.h"
#include "core/text/text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- hash-consing ----------------------------------------------------------------------------------------------------

struct term_list {
    const struct polynomial_term *items;
    uint32_t count;
};

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

struct atom_key {
    struct polynomial_atom atom;
    const polynomial *members;   // of a MAXIMUM, whose range is not in the pool yet
};

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

// The polynomial that is one atom.
static polynomial atom_as_polynomial(struct polynomial_pool *p, struct atom_key key)
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
    atom_as_polynomial(p, (struct atom_key){{.kind = ATOM_LIMIT, .a = 0}, NULL});
    atom_as_polynomial(p, (struct atom_key){{.kind = ATOM_LIMIT, .a = 1}, NULL});
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

__extension__ typedef __int128 wide;

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
static bool has_work_left(struct polynomial_pool *p)
{
    p->has_overflowed = p->has_overflowed || p->work > p->work_limit || p->terms.count > MOST_TERMS;
    return !p->has_overflowed;
}

// --- the ring --------------------------------------------------------------------------------------------------------

static struct term_list terms_of(const struct polynomial_pool *p, polynomial a)
{
    struct pool_range r = p->polynomials.items[a];
    return (struct term_list){p->terms.items + r.first, r.count};
}

static polynomial add(struct polynomial_pool *p, polynomial a, polynomial b)
{
    if (a == POLYNOMIAL_ZERO)
        return b;
    if (b == POLYNOMIAL_ZERO)
        return a;
    struct term_list x = terms_of(p, a), y = terms_of(p, b);
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
    struct term_list x = terms_of(p, a);
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
    struct term_list x = terms_of(p, a), y = terms_of(p, b);
    uint64_t count = (uint64_t)x.count * y.count;
    p->work += count + (x.count < y.count ? x.count : y.count);
    p->has_overflowed = p->has_overflowed || p->open.count + count > MOST_TERMS;
    if (!has_work_left(p))
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
    return has_work_left(p) ? find_or_add(p, terms, n) : POLYNOMIAL_ZERO;
}

static polynomial multiply(struct polynomial_pool *p, polynomial a, polynomial b)
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

static polynomial constant(struct polynomial_pool *p, wide numerator, wide denominator)
{
    struct polynomial_term t = {.monomial = MONOMIAL_ONE};
    if (numerator == 0)
        return POLYNOMIAL_ZERO;
    set_fraction(p, &t, denominator < 0 ? -numerator : numerator, denominator < 0 ? -denominator : denominator);
    return find_or_add(p, &t, 1);
}

polynomial polynomial_scale(struct polynomial_pool *p, polynomial a, int64_t numerator, int64_t denominator)
{
    return multiply(p, a, constant(p, numerator, denominator));
}

static polynomial negate(struct polynomial_pool *p, polynomial a)
{
    return polynomial_scale(p, a, -1, 1);
}

// --- functions -------------------------------------------------------------------------------------------------------

static bool is_constant(const struct polynomial_pool *p, polynomial a, struct polynomial_term *ret)
{
    struct term_list x = terms_of(p, a);
    *ret = (struct polynomial_term){MONOMIAL_ONE, 0, 1};
    if (x.count == 1 && x.items[0].monomial == MONOMIAL_ONE)
        *ret = x.items[0];
    return x.count == 0 || ret->numerator != 0;
}

#define MAX_SET 256

struct members {
    uint32_t count;
    polynomial items[MAX_SET];
};

static void add_member(struct polynomial_pool *p, struct members *m, polynomial a)
{
    if (a == POLYNOMIAL_LOWEST)
        return;
    uint32_t i = 0;
    while (i < m->count && m->items[i] < a)
        i++;
    if (i < m->count && m->items[i] == a)
        return;
    if (m->count == MAX_SET) {
        p->has_overflowed = true;
        return;
    }
    memmove(m->items + i + 1, m->items + i, (m->count - i) * sizeof *m->items);
    m->items[i] = a;
    m->count++;
}

static polynomial scale_by(struct polynomial_pool *p, polynomial a, const struct polynomial_term *by)
{
    return by->numerator == by->denominator ? a : polynomial_scale(p, a, by->numerator, by->denominator);
}

// c max(x, y) = max(c x, c y) for c above 0: the polynomial is such a maximum, or the only member.
static void add_members_of(struct polynomial_pool *p, struct members *m, polynomial a)
{
    struct term_list x = terms_of(p, a);
    struct polynomial_term factor = x.count == 1 ? x.items[0] : (struct polynomial_term){0};
    struct polynomial_atom set = {.kind = ATOM_VARIABLE};
    uint32_t factors[MOST_FACTORS];
    if (factor.numerator > 0 && monomial_factors(&p->monomials, factor.monomial, factors) == 1)
        set = p->atoms.items[factors[0]];
    if (set.kind != ATOM_MAXIMUM) {
        add_member(p, m, a);
        return;
    }
    for (uint32_t i = 0; i < set.b; i++)
        add_member(p, m, scale_by(p, p->sets.items[set.a + i], &factor));
}

// Products of atoms that have one coefficient, but for the sign: 1 over it, and 1 where there are sums, or others.
static struct polynomial_term inverse_of_common_coefficient(const struct polynomial_pool *p, const struct members *m)
{
    const struct polynomial_term one = {MONOMIAL_ONE, 1, 1};
    struct polynomial_term inverse = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        struct term_list x = terms_of(p, m->items[i]);
        if (x.count == 0)
            continue;
        int64_t size = x.items[0].numerator < 0 ? -x.items[0].numerator : x.items[0].numerator;
        bool is_first = inverse.denominator == 0;
        if (x.count > 1 || !(is_first || (inverse.denominator == size && inverse.numerator == x.items[0].denominator)))
            return one;
        inverse = (struct polynomial_term){MONOMIAL_ONE, x.items[0].denominator, size};
    }
    return inverse.denominator ? inverse : one;
}

static polynomial maximum_of_members(struct polynomial_pool *p, const struct members *m)
{
    struct polynomial_term inverse = inverse_of_common_coefficient(p, m);
    struct polynomial_term coefficient = {MONOMIAL_ONE, inverse.denominator, inverse.numerator};
    struct members scaled;
    scaled.count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        add_member(p, &scaled, scale_by(p, m->items[i], &inverse));
    polynomial greatest =
        atom_as_polynomial(p, (struct atom_key){{.kind = ATOM_MAXIMUM, .b = scaled.count}, scaled.items});
    return scale_by(p, greatest, &coefficient);
}

// Keeps only the greatest of the constants.
static void fold_constants(const struct polynomial_pool *p, struct members *m)
{
    struct polynomial_term greatest = {0}, t;
    uint32_t kept = 0, at = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; i++)
        if (is_constant(p, m->items[i], &t) &&
            (at == UINT32_MAX || (wide)t.numerator * greatest.denominator > (wide)greatest.numerator * t.denominator)) {
            greatest = t;
            at = i;
        }
    for (uint32_t i = 0; i < m->count; i++)
        if (!is_constant(p, m->items[i], &t) || i == at)
            m->items[kept++] = m->items[i];
    m->count = kept;
}

polynomial polynomial_maximum(struct polynomial_pool *p, const polynomial *items, size_t count)
{
    struct members m;
    m.count = 0;
    if (!has_work_left(p))
        return POLYNOMIAL_ZERO;
    for (size_t i = 0; i < count; i++)
        add_members_of(p, &m, items[i]);
    fold_constants(p, &m);
    if (m.count == 0)
        return POLYNOMIAL_LOWEST;
    if (m.count == 1)
        return m.items[0];
    return maximum_of_members(p, &m);
}

static polynomial maximum(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_maximum(p, (polynomial[]){a, b}, 2);
}

static polynomial minimum(struct polynomial_pool *p, polynomial a, polynomial b)
{
    if (a == POLYNOMIAL_HIGHEST)
        return b;
    if (b == POLYNOMIAL_HIGHEST)
        return a;
    return negate(p, maximum(p, negate(p, a), negate(p, b)));
}

static polynomial apply_uninterpreted(struct polynomial_pool *p, enum scalar_function fn, polynomial a, polynomial b,
                                      polynomial c)
{
    bool is_symmetric = fn == FN_EQUAL || fn == FN_AND || fn == FN_OR || fn == FN_XOR;
    struct polynomial_atom atom = {.kind = ATOM_FUNCTION, .fn = (uint8_t)fn, .a = a, .b = b, .c = c};
    if (is_symmetric && b < a) {
        atom.a = b;
        atom.b = a;
    }
    atom.b = function_arity(fn) > 1 ? atom.b : 0;
    atom.c = function_arity(fn) > 2 ? atom.c : 0;
    return atom_as_polynomial(p, (struct atom_key){atom, NULL});
}

// f(max(x, y)) = max(f(x), f(y))
static polynomial apply_increasing(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    struct members m;
    m.count = 0;
    add_members_of(p, &m, a);
    polynomial result = POLYNOMIAL_LOWEST;
    for (uint32_t i = 0; i < m.count; i++)
        result = maximum(p, result, apply_uninterpreted(p, fn, m.items[i], 0, 0));
    return m.count ? result : apply_uninterpreted(p, fn, a, 0, 0);
}

static bool is_odd(enum scalar_function fn)
{
    return fn == FN_TANH || fn == FN_ERF || fn == FN_SIN || fn == FN_TAN || fn == FN_ASIN || fn == FN_ATAN ||
           fn == FN_SINH || fn == FN_ASINH || fn == FN_ATANH || fn == FN_SIGN || fn == FN_ROUND || fn == FN_TRUNC;
}

static bool has_minus_in_front(const struct polynomial_pool *p, polynomial a)
{
    struct term_list x = terms_of(p, a);
    return x.count && x.items[0].numerator < 0;
}

static polynomial apply_with_laws(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    bool is_increasing = fn == FN_EXP || fn == FN_SIGMOID || fn == FN_TANH;
    return is_increasing ? apply_increasing(p, fn, a) : apply_uninterpreted(p, fn, a, 0, 0);
}

// f(-x) = -f(x), f(0) = 0 (T12 of docs/theory/soundness.md).
static polynomial apply_odd(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    if (a == POLYNOMIAL_ZERO)
        return a;
    bool is_turned = has_minus_in_front(p, a);
    polynomial result = apply_with_laws(p, fn, is_turned ? negate(p, a) : a);
    return is_turned ? negate(p, result) : result;
}

// f(-x) = f(x) (T12)
static polynomial apply_even(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    return apply_uninterpreted(p, fn, has_minus_in_front(p, a) ? negate(p, a) : a, 0, 0);
}

bool polynomial_is_application(const struct polynomial_pool *p, polynomial a, enum scalar_function fn,
                               polynomial *ret_operand)
{
    struct term_list x = terms_of(p, a);
    uint32_t atom;
    if (x.count != 1 || !is_atom(p, &x.items[0], &atom))
        return false;
    *ret_operand = p->atoms.items[atom].a;
    return p->atoms.items[atom].kind == ATOM_FUNCTION && p->atoms.items[atom].fn == fn;
}

// One of two that are the same, or, for the opposite of a condition, the other one (T12).
static polynomial choose(struct polynomial_pool *p, polynomial condition, polynomial then, polynomial otherwise)
{
    polynomial opposite;
    if (then == otherwise)
        return then;
    if (polynomial_is_application(p, condition, FN_NOT, &opposite))
        return choose(p, opposite, otherwise, then);
    return apply_uninterpreted(p, FN_WHERE, condition, then, otherwise);
}

// 1 / (c x y) = (1 / c) (1 / x) (1 / y);  any sum is scaled to leading coefficient 1.
static polynomial reciprocal(struct polynomial_pool *p, polynomial a)
{
    struct term_list x = terms_of(p, a);
    if (x.count == 0)
        return apply_uninterpreted(p, FN_RECIPROCAL, a, 0, 0);
    struct polynomial_term leading = x.items[0];
    polynomial result = constant(p, leading.denominator, leading.numerator);
    p->needs_reals = true;
    if (x.count > 1)
        return multiply(p, result, apply_uninterpreted(p, FN_RECIPROCAL, multiply(p, a, result), 0, 0));
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&p->monomials, leading.monomial, factors);
    for (uint32_t i = 0; i < n; i++) {
        polynomial inverse = apply_uninterpreted(p, FN_RECIPROCAL, p->of_atoms.items[factors[i]], 0, 0);
        result = multiply(p, result, inverse);
    }
    return result;
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
        return constant(p, (wide)(value * scale), (wide)scale);
    return atom_as_polynomial(p, (struct atom_key){{.kind = ATOM_REAL, .real = value}, NULL});
}

polynomial polynomial_variable(struct polynomial_pool *p, uint32_t number)
{
    while (p->variables.count <= number)
        vec_push(&p->variables,
                 add_atom(p, (struct polynomial_atom){.kind = ATOM_VARIABLE, .a = (uint32_t)p->variables.count}));
    return p->variables.items[number];
}

polynomial polynomial_apply(struct polynomial_pool *p, enum scalar_function fn, polynomial a, polynomial b,
                            polynomial c)
{
    if (!has_work_left(p))
        return POLYNOMIAL_ZERO;
    switch (fn) {
    case FN_ADD:
        return add(p, a, b);
    case FN_SUB:
        return add(p, a, negate(p, b));
    case FN_MUL:
        return multiply(p, a, b);
    case FN_NEG:
        return negate(p, a);
    case FN_DIV:
        return multiply(p, a, reciprocal(p, b));
    case FN_RECIPROCAL:
        return reciprocal(p, a);
    case FN_MAX:
        return maximum(p, a, b);
    case FN_MIN:
        return minimum(p, a, b);
    case FN_RELU:
        return p->relu_is_any_function ? apply_uninterpreted(p, fn, a, 0, 0) : maximum(p, a, POLYNOMIAL_ZERO);
    case FN_ABS:
        return maximum(p, a, negate(p, a));
    case FN_CEIL:
        return negate(p, apply_uninterpreted(p, FN_FLOOR, negate(p, a), 0, 0));
    case FN_COS:
    case FN_COSH:
        return apply_even(p, fn, a);
    case FN_EXP:
    case FN_SIGMOID:
        return apply_with_laws(p, fn, a);
    case FN_WHERE:
        return choose(p, a, b, c);
    default:
        return is_odd(fn) ? apply_odd(p, fn, a) : apply_uninterpreted(p, fn, a, b, c);
    }
}

// --- printing --------------------------------------------------------------------------------------------------------

struct printer {
    struct text *out;
    const struct polynomial_pool *p;
    void (*print_variable)(struct text *out, const void *context, uint32_t number);
    const void *context;
};

static void print_polynomial(const struct printer *to, polynomial a);

static void print_call(const struct printer *to, const char *name, const polynomial *operands, uint32_t n)
{
    text_printf(to->out, "%s(", name);
    for (uint32_t i = 0; i < n; i++) {
        text_add(to->out, i ? ", " : "");
        print_polynomial(to, operands[i]);
    }
    text_add(to->out, ")");
}

static void print_atom(const struct printer *to, uint32_t id)
{
    const struct polynomial_atom *atom = &to->p->atoms.items[id];
    polynomial operands[3] = {atom->a, atom->b, atom->c};
    switch ((enum atom_kind)atom->kind) {
    case ATOM_VARIABLE:
        to->print_variable(to->out, to->context, atom->a);
        break;
    case ATOM_FUNCTION:
        print_call(to, function_name((enum scalar_function)atom->fn), operands,
                   (uint32_t)function_arity((enum scalar_function)atom->fn));
        break;
    case ATOM_MAXIMUM:
        print_call(to, "max", to->p->sets.items + atom->a, atom->b);
        break;
    case ATOM_REAL:
        text_add_real(to->out, atom->real);
        break;
    case ATOM_LIMIT:
        text_add(to->out, atom->a ? "highest" : "lowest");
        break;
    }
}

static void print_term(const struct printer *to, const struct polynomial_term *t, bool is_first)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&to->p->monomials, t->monomial, factors);
    int64_t size = t->numerator < 0 ? -t->numerator : t->numerator;
    text_add(to->out, t->numerator < 0 ? (is_first ? "-" : " - ") : (is_first ? "" : " + "));
    bool has_coefficient = size != 1 || t->denominator != 1 || n == 0;
    if (has_coefficient)
        text_printf(to->out, "%" PRId64, size);
    if (t->denominator != 1)
        text_printf(to->out, "/%" PRId64, t->denominator);
    for (uint32_t i = 0; i < n; i++) {
        text_add(to->out, i || has_coefficient ? " " : "");
        print_atom(to, factors[i]);
    }
}

static void print_polynomial(const struct printer *to, polynomial a)
{
    struct term_list x = terms_of(to->p, a);
    if (x.count == 0)
        text_add(to->out, "0");
    for (uint32_t i = 0; i < x.count; i++)
        print_term(to, &x.items[i], i == 0);
}

void polynomial_print(struct text *out, const struct polynomial_pool *p, polynomial a,
                      void (*print_variable)(struct text *out, const void *context, uint32_t number),
                      const void *context)
{
    struct printer to = {out, p, print_variable, context};
    print_polynomial(&to, a);
}
