// Functions of polynomials: maxima as sets, the laws of odd, even and increasing functions and of choices, and atoms
// for all else (T12 of docs/theory/soundness.md).
#include "verifier/polynomials/ring.h"

#include <string.h>

static bool is_constant(const struct polynomial_pool *p, polynomial a, struct polynomial_term *ret)
{
    struct term_list x = polynomial_terms(p, a);
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
    struct term_list x = polynomial_terms(p, a);
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
        struct term_list x = polynomial_terms(p, m->items[i]);
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
        polynomial_of_atom(p, (struct atom_key){{.kind = ATOM_MAXIMUM, .b = scaled.count}, scaled.items});
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
    if (!polynomial_has_work_left(p))
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
    return polynomial_negate(p, maximum(p, polynomial_negate(p, a), polynomial_negate(p, b)));
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
    return polynomial_of_atom(p, (struct atom_key){atom, NULL});
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
    struct term_list x = polynomial_terms(p, a);
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
    polynomial result = apply_with_laws(p, fn, is_turned ? polynomial_negate(p, a) : a);
    return is_turned ? polynomial_negate(p, result) : result;
}

// f(-x) = f(x) (T12)
static polynomial apply_even(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    return apply_uninterpreted(p, fn, has_minus_in_front(p, a) ? polynomial_negate(p, a) : a, 0, 0);
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
    struct term_list x = polynomial_terms(p, a);
    if (x.count == 0)
        return apply_uninterpreted(p, FN_RECIPROCAL, a, 0, 0);
    struct polynomial_term leading = x.items[0];
    polynomial result = polynomial_constant(p, leading.denominator, leading.numerator);
    p->needs_reals = true;
    if (x.count > 1)
        return polynomial_multiply(p, result,
                                   apply_uninterpreted(p, FN_RECIPROCAL, polynomial_multiply(p, a, result), 0, 0));
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&p->monomials, leading.monomial, factors);
    for (uint32_t i = 0; i < n; i++) {
        polynomial inverse = apply_uninterpreted(p, FN_RECIPROCAL, p->of_atoms.items[factors[i]], 0, 0);
        result = polynomial_multiply(p, result, inverse);
    }
    return result;
}

polynomial polynomial_apply(struct polynomial_pool *p, enum scalar_function fn, polynomial a, polynomial b,
                            polynomial c)
{
    if (!polynomial_has_work_left(p))
        return POLYNOMIAL_ZERO;
    switch (fn) {
    case FN_ADD:
        return polynomial_add(p, a, b);
    case FN_SUB:
        return polynomial_add(p, a, polynomial_negate(p, b));
    case FN_MUL:
        return polynomial_multiply(p, a, b);
    case FN_NEG:
        return polynomial_negate(p, a);
    case FN_DIV:
        return polynomial_multiply(p, a, reciprocal(p, b));
    case FN_RECIPROCAL:
        return reciprocal(p, a);
    case FN_MAX:
        return maximum(p, a, b);
    case FN_MIN:
        return minimum(p, a, b);
    case FN_RELU:
        return p->relu_is_any_function ? apply_uninterpreted(p, fn, a, 0, 0) : maximum(p, a, POLYNOMIAL_ZERO);
    case FN_ABS:
        return maximum(p, a, polynomial_negate(p, a));
    case FN_CEIL:
        return polynomial_negate(p, apply_uninterpreted(p, FN_FLOOR, polynomial_negate(p, a), 0, 0));
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
