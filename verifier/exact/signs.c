// Resolves maxima by the sign of one difference at a time, both cases.
#include "verifier/exact/signs.h"

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

// 1: at least 0; -1: at most 0; 0: not known.
static int sign_of(struct signs *s, polynomial a)
{
    int sign = a == POLYNOMIAL_ZERO ? 1 : sign_of_ratio(s->pool, a, POLYNOMIAL_ONE);
    for (uint32_t i = 0; i < s->count && sign == 0; i++)
        sign = sign_of_ratio(s->pool, a, s->positive[i]);
    return sign;
}

static polynomial difference(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_apply(p, FN_SUB, a, b, 0);
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
            *ret_open = ahead;
        greatest = sign > 0 ? member : sign < 0 ? greatest : polynomial_apply(p, FN_MAX, greatest, member, 0);
    }
    return greatest;
}

static polynomial resolve_atom(struct signs *s, uint32_t id, polynomial *ret_open)
{
    struct polynomial_atom atom = s->pool->atoms.items[id];
    polynomial operands[3] = {atom.a, atom.b, atom.c};
    if (atom.kind == ATOM_MAXIMUM)
        return resolve_maximum(s, atom.a, atom.b, ret_open);
    if (atom.kind != ATOM_FUNCTION)
        return s->pool->of_atoms.items[id];
    for (int i = 0; i < function_arity((enum scalar_function)atom.fn); i++)
        operands[i] = resolve(s, operands[i], ret_open);
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
    return sum;
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
