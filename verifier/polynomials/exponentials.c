// Products of exponentials become one, and logarithms of sums of them lose a common factor.
#include "verifier/polynomials/exponentials.h"

static polynomial sum(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_apply(p, FN_ADD, a, b, 0);
}

static polynomial difference(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_apply(p, FN_SUB, a, b, 0);
}

static polynomial product(struct polynomial_pool *p, polynomial a, polynomial b)
{
    return polynomial_apply(p, FN_MUL, a, b, 0);
}

static polynomial exponential(struct polynomial_pool *p, polynomial exponent)
{
    return exponent == POLYNOMIAL_ZERO ? POLYNOMIAL_ONE : polynomial_apply(p, FN_EXP, exponent, 0, 0);
}

// --- products --------------------------------------------------------------------------------------------------------

// e^x or 1 / e^x: x is added to the exponent, or taken off.
static bool take_exponent(struct polynomial_pool *p, polynomial factor, polynomial *exponent)
{
    polynomial operand;
    if (polynomial_is_application(p, factor, FN_EXP, &operand)) {
        *exponent = sum(p, *exponent, operand);
        return true;
    }
    bool is_inverse = polynomial_is_application(p, factor, FN_RECIPROCAL, &operand) &&
                      polynomial_is_application(p, operand, FN_EXP, &operand);
    if (is_inverse)
        *exponent = difference(p, *exponent, operand);
    return is_inverse;
}

static polynomial merge_term(struct polynomial_pool *p, struct polynomial_term t)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&p->monomials, t.monomial, factors);
    polynomial rest = POLYNOMIAL_ONE, exponent = POLYNOMIAL_ZERO;
    for (uint32_t i = 0; i < n; i++)
        if (!take_exponent(p, p->of_atoms.items[factors[i]], &exponent))
            rest = product(p, rest, p->of_atoms.items[factors[i]]);
    return polynomial_scale(p, product(p, rest, exponential(p, exponent)), t.numerator, t.denominator);
}

polynomial exponentials_merge(struct polynomial_pool *p, polynomial a)
{
    struct pool_range range = p->polynomials.items[a];
    polynomial merged = POLYNOMIAL_ZERO;
    for (uint32_t i = 0; i < range.count; i++)
        merged = sum(p, merged, merge_term(p, p->terms.items[range.first + i]));
    return merged;
}

// --- logarithms ------------------------------------------------------------------------------------------------------

// Of c e^x with c above 0.
static bool has_exponent(const struct polynomial_pool *p, struct polynomial_term t, polynomial *ret_exponent)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&p->monomials, t.monomial, factors);
    *ret_exponent = POLYNOMIAL_ZERO;
    return t.numerator > 0 &&
           (n == 0 || (n == 1 && polynomial_is_application(p, p->of_atoms.items[factors[0]], FN_EXP, ret_exponent)));
}

static bool is_sum_of_exponentials(const struct polynomial_pool *p, polynomial a)
{
    struct pool_range range = p->polynomials.items[a];
    polynomial exponent;
    for (uint32_t i = 0; i < range.count; i++)
        if (!has_exponent(p, p->terms.items[range.first + i], &exponent))
            return false;
    return range.count > 0;
}

polynomial exponentials_logarithm(struct polynomial_pool *p, polynomial a)
{
    struct pool_range range = p->polynomials.items[a];
    polynomial rest = a, outside = POLYNOMIAL_ZERO;
    bool is_sum = is_sum_of_exponentials(p, a);
    for (uint32_t i = 0; is_sum && i < range.count; i++) {
        polynomial exponent, inverse = POLYNOMIAL_ZERO;
        has_exponent(p, p->terms.items[range.first + i], &exponent);
        inverse = exponential(p, difference(p, POLYNOMIAL_ZERO, exponent));
        polynomial divided = exponentials_merge(p, product(p, a, inverse));
        if (i == 0 || divided < rest) {
            rest = divided;
            outside = exponent;
        }
    }
    return rest == POLYNOMIAL_ONE ? outside : sum(p, outside, polynomial_apply(p, FN_LOG, rest, 0, 0));
}
