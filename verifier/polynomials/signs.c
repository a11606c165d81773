// Resolves maxima by the sign of one difference at a time, both cases.
#include "verifier/polynomials/signs.h"

#include "verifier/polynomials/exponentials.h"

#define MOST_CASES_DEEP 4

// What is taken to be at least 0.
struct signs {
    struct polynomial_pool *pool;
    uint32_t count;
    polynomial positive[MOST_CASES_DEEP];
};

// The sign of x / y, where that is a number; else 0.
static int sign_of_ratio(struct polynomial_pool *p, polynomial x, polynomial y)
{
    if (p->polynomials.items[x].count != p->polynomials.items[y].count)
        return 0;
    struct polynomial_term s = p->terms.items[p->polynomials.items[x].first];
    struct polynomial_term t = p->terms.items[p->polynomials.items[y].first];
    polynomial scaled = polynomial_scale(p, y, s.numerator, s.denominator);
    bool is_number = s.monomial == t.monomial && polynomial_scale(p, scaled, t.denominator, t.numerator) == x;
    return !is_number ? 0 : (s.numerator > 0) == (t.numerator > 0) ? 1 : -1;
}

static polynomial difference(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_apply(p, FN_SUB, a, b, 0);
}

// c f(x) - c f(y) with an increasing function f, which has the sign of c x - c y.
static bool is_difference_of_increasing(struct polynomial_pool *p, polynomial a, polynomial *ret_of_arguments)
{
    static const enum scalar_function increasing[] = {FN_EXP, FN_TANH, FN_SIGMOID};
    struct pool_range range = p->polynomials.items[a];
    if (range.count != 2)
        return false;
    struct polynomial_term s = p->terms.items[range.first], t = p->terms.items[range.first + 1];
    uint32_t factors[MOST_FACTORS];
    polynomial x = POLYNOMIAL_ZERO, y = POLYNOMIAL_ZERO;
    bool are_alike = s.numerator == -t.numerator && s.denominator == t.denominator &&
                     monomial_factors(&p->monomials, s.monomial, factors) == 1;
    x = are_alike ? p->of_atoms.items[factors[0]] : x;
    are_alike = are_alike && monomial_factors(&p->monomials, t.monomial, factors) == 1;
    y = are_alike ? p->of_atoms.items[factors[0]] : y;
    for (size_t i = 0; i < sizeof increasing / sizeof *increasing && are_alike; i++) {
        polynomial of_x, of_y;
        if (polynomial_is_application(p, x, increasing[i], &of_x) &&
            polynomial_is_application(p, y, increasing[i], &of_y)) {
            *ret_of_arguments = s.numerator > 0 ? difference(p, of_x, of_y) : difference(p, of_y, of_x);
            return true;
        }
    }
    return false;
}

static int sign_of(struct signs *s, polynomial a);

// 1: at least 0; -1: at most 0; 0: not known. Even powers and exponentials are at least 0.
static int sign_of_factor(struct signs *s, const uint32_t *factors, uint32_t n, uint32_t i)
{
    uint32_t times = 0;
    polynomial atom = s->pool->of_atoms.items[factors[i]], exponent;
    for (uint32_t j = 0; j < n; j++)
        times += factors[j] == factors[i];
    return times % 2 == 0 || polynomial_is_application(s->pool, atom, FN_EXP, &exponent) ? 1 : sign_of(s, atom);
}

// Of a product of several atoms, by theirs.
static int sign_of_product(struct signs *s, struct polynomial_term t)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&s->pool->monomials, t.monomial, factors);
    polynomial exponent;
    if (n == 1 && !polynomial_is_application(s->pool, s->pool->of_atoms.items[factors[0]], FN_EXP, &exponent))
        return 0;
    int sign = t.numerator > 0 ? 1 : -1;
    for (uint32_t i = 0; i < n && sign; i++)
        if (i == 0 || factors[i] != factors[i - 1])
            sign *= sign_of_factor(s, factors, n, i);
    return sign;
}

static int sign_of(struct signs *s, polynomial a)
{
    polynomial of_arguments;
    int sign = a == POLYNOMIAL_ZERO ? 1 : sign_of_ratio(s->pool, a, POLYNOMIAL_ONE);
    for (uint32_t i = 0; i < s->count && sign == 0; i++)
        sign = sign_of_ratio(s->pool, a, s->positive[i]);
    if (sign == 0 && s->pool->polynomials.items[a].count == 1)
        sign = sign_of_product(s, s->pool->terms.items[s->pool->polynomials.items[a].first]);
    if (sign == 0 && is_difference_of_increasing(s->pool, a, &of_arguments))
        sign = sign_of(s, of_arguments);
    return sign;
}

// What there are cases of, where the sign of a polynomial is not known: that, or one of its factors, or what an
// increasing function is of.
static polynomial undecided_part(struct signs *s, polynomial a)
{
    struct pool_range range = s->pool->polynomials.items[a];
    uint32_t factors[MOST_FACTORS], n = 0;
    polynomial of_arguments;
    if (is_difference_of_increasing(s->pool, a, &of_arguments))
        return of_arguments;
    if (range.count == 1)
        n = monomial_factors(&s->pool->monomials, s->pool->terms.items[range.first].monomial, factors);
    for (uint32_t i = 0; i < n; i++)
        if (sign_of_factor(s, factors, n, i) == 0)
            return s->pool->of_atoms.items[factors[i]];
    return a;
}

// What the polynomial is, given the signs. *ret_open: the difference of the members of a maximum that is left, if any.
static polynomial resolve(struct signs *s, polynomial a, polynomial *ret_open);

static polynomial resolve_maximum(struct signs *s, uint32_t first, uint32_t count, polynomial *ret_open)
{
    struct polynomial_pool *p = s->pool;
    polynomial greatest = POLYNOMIAL_LOWEST;
    for (uint32_t i = 0; i < count; i++) {
        polynomial member = resolve(s, p->sets.items[first + i], ret_open);
        polynomial ahead = i ? difference(p, member, greatest) : POLYNOMIAL_ONE;
        int sign = i ? sign_of(s, ahead) : 1;
        if (sign == 0 && *ret_open == POLYNOMIAL_ZERO)
            *ret_open = undecided_part(s, ahead);
        greatest = sign > 0 ? member : sign < 0 ? greatest : polynomial_apply(p, FN_MAX, greatest, member, 0);
    }
    return greatest;
}

// x < y or x <= y
static bool is_comparison(const struct polynomial_pool *p, polynomial a, polynomial *ret_x, polynomial *ret_y)
{
    uint32_t factors[MOST_FACTORS];
    if (!polynomial_is_application(p, a, FN_LESS, ret_x) && !polynomial_is_application(p, a, FN_LESS_EQUAL, ret_x))
        return false;
    monomial_factors(&p->monomials, p->terms.items[p->polynomials.items[a].first].monomial, factors);
    *ret_y = p->atoms.items[factors[0]].b;
    return true;
}

// What is chosen by x < y, where the choices differ by a multiple of y - x: the one, and as much of max(y - x, 0).
static bool is_maximum_of_two(struct polynomial_pool *p, const polynomial operands[3], polynomial *ret_maximum)
{
    polynomial less, bound, step;
    if (!is_comparison(p, operands[0], &less, &bound))
        return false;
    polynomial ahead = difference(p, bound, less), change = difference(p, operands[1], operands[2]);
    if (ahead == POLYNOMIAL_ZERO || sign_of_ratio(p, change, ahead) == 0)
        return false;
    struct polynomial_term s = p->terms.items[p->polynomials.items[change].first];
    struct polynomial_term t = p->terms.items[p->polynomials.items[ahead].first];
    step = polynomial_apply(p, FN_MAX, ahead, POLYNOMIAL_ZERO, 0);
    step = polynomial_scale(p, step, s.numerator, s.denominator);
    step = polynomial_scale(p, step, t.denominator, t.numerator);
    *ret_maximum = polynomial_apply(p, FN_ADD, operands[2], step, 0);
    return true;
}

static polynomial resolve_atom(struct signs *s, uint32_t id, polynomial *ret_open)
{
    struct polynomial_atom atom = s->pool->atoms.items[id];
    polynomial operands[3] = {atom.a, atom.b, atom.c}, maximum;
    if (atom.kind == ATOM_MAXIMUM)
        return resolve_maximum(s, atom.a, atom.b, ret_open);
    if (atom.kind != ATOM_FUNCTION)
        return s->pool->of_atoms.items[id];
    for (int i = 0; i < function_arity((enum scalar_function)atom.fn); i++)
        operands[i] = resolve(s, operands[i], ret_open);
    if (atom.fn == FN_WHERE && is_maximum_of_two(s->pool, operands, &maximum))
        return resolve(s, maximum, ret_open);
    if (atom.fn == FN_LOG1P)
        operands[0] = polynomial_apply(s->pool, FN_ADD, operands[0], POLYNOMIAL_ONE, 0);
    if (atom.fn == FN_LOG || atom.fn == FN_LOG1P)
        return exponentials_logarithm(s->pool, operands[0]);
    return polynomial_apply(s->pool, (enum scalar_function)atom.fn, operands[0], operands[1], operands[2]);
}

static polynomial resolve(struct signs *s, polynomial a, polynomial *ret_open)
{
    struct polynomial_pool *p = s->pool;
    struct pool_range range = p->polynomials.items[a];
    polynomial sum = POLYNOMIAL_ZERO;
    for (uint32_t i = 0; i < range.count; i++) {
        struct polynomial_term t = p->terms.items[range.first + i];   // the pool grows below
        uint32_t factors[MOST_FACTORS], n = monomial_factors(&p->monomials, t.monomial, factors);
        polynomial product = POLYNOMIAL_ONE;
        for (uint32_t j = 0; j < n; j++)
            product = polynomial_apply(p, FN_MUL, product, resolve_atom(s, factors[j], ret_open), 0);
        sum = polynomial_apply(p, FN_ADD, sum, polynomial_scale(p, product, t.numerator, t.denominator), 0);
    }
    return exponentials_merge(p, sum);
}

static bool are_equal_in_all_cases(struct signs *s, polynomial a, polynomial b)
{
    polynomial open = POLYNOMIAL_ZERO;
    a = resolve(s, a, &open);
    b = resolve(s, b, &open);
    if (s->pool->has_overflowed)
        return false;
    if (a == b)
        return true;
    if (open == POLYNOMIAL_ZERO || s->count == MOST_CASES_DEEP)
        return false;
    bool are_equal = true;
    for (int i = 0; i < 2 && are_equal; i++) {
        s->positive[s->count++] = i ? polynomial_scale(s->pool, open, -1, 1) : open;
        are_equal = are_equal_in_all_cases(s, a, b);
        s->count--;
    }
    return are_equal;
}

bool signs_make_equal(struct polynomial_pool *p, polynomial a, polynomial b)
{
    struct signs s = {.pool = p};
    return are_equal_in_all_cases(&s, a, b);
}
