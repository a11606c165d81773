// Linear functions are arithmetic, maxima and minima are bags, and of all others few laws are known.
#include "verifier/symbolic_proof/sum_functions.h"

#include "verifier/symbolic_proof/compare.h"

static bool is_one(struct rational x)
{
    return x.n == 1 && x.d == 1;
}

static bool is_number(const struct sum *a, struct rational *ret_value)
{
    *ret_value = a->n ? a->terms[0].coefficient : (struct rational){0, 1};
    return a->n == 0 || (a->n == 1 && a->terms[0].n_indices + a->terms[0].n_guards + a->terms[0].n_factors == 0);
}

const struct sum *sum_element(struct sums *s, const struct sum *a)
{
    const struct sum **operand = arena_array(s->arena, const struct sum *, 1);
    *operand = a;
    return sum_of_factor(s, &(struct factor){.kind = FACTOR_ELEMENT, .n_operands = 1, .operands = operand});
}

// The only factor of the sum; NULL: it has others.
static const struct factor *only_factor(const struct sum *a)
{
    const struct product *t = a->n == 1 ? &a->terms[0] : NULL;
    bool is_only = t && is_one(t->coefficient) && t->n_indices + t->n_guards == 0 && t->n_factors == 1;
    return is_only ? &t->factors[0] : NULL;
}

static bool is_application(const struct sum *a, enum factor_kind kind, enum scalar_function fn)
{
    const struct factor *f = only_factor(a);
    return f && f->kind == kind && f->name == fn;
}

// A bag of the same function that is the only thing in an element is opened.
static const struct sum *open_elements(struct sums *s, enum scalar_function fn, const struct sum *elements)
{
    const struct sum *result = &SUM_ZERO;
    for (uint32_t i = 0; i < elements->n && !s->why; i++) {
        const struct product *t = &elements->terms[i];
        const struct sum *inner = t->factors[0].operands[0];
        bool is_bag = is_application(inner, FACTOR_BAG, fn);
        struct product around = *t;
        around.n_factors = 0;
        const struct sum *opened = sum_of_products(s, 1, is_bag ? &around : t);
        result = sum_add(s, result, is_bag ? sum_multiply(s, opened, only_factor(inner)->operands[0]) : opened);
    }
    return result;
}

// The greatest of two equal numbers is one of them.
static const struct sum *without_repeated_elements(struct sums *s, const struct sum *elements)
{
    struct product *terms = arena_array(s->arena, struct product, elements->n + 1);
    uint32_t n = 0;
    EACH(elements->terms, elements->n, t) {
        bool is_repeated = false;
        for (uint32_t j = 0; j < n && t->n_indices + t->n_guards == 0 && !is_repeated; j++)
            is_repeated = terms[j].n_indices + terms[j].n_guards == 0 &&
                          sums_equal(s, NULL, 0, t->factors[0].operands[0], terms[j].factors[0].operands[0]);
        terms[n] = *t;
        n += !is_repeated;
    }
    return n == elements->n ? elements : sum_of_products(s, n, terms);
}

const struct sum *sum_of_bag(struct sums *s, enum scalar_function fn, const struct sum *elements)
{
    elements = open_elements(s, fn, elements);
    if (fn != FN_MUL)
        elements = without_repeated_elements(s, elements);
    const struct product *only = elements->n == 1 ? &elements->terms[0] : NULL;
    if (s->why)
        return &SUM_ZERO;
    if (only && is_one(only->coefficient) && only->n_indices + only->n_guards == 0)
        return only->factors[0].operands[0];
    const struct sum **operand = arena_array(s->arena, const struct sum *, 1);
    *operand = elements;
    return sum_of_factor(s, &(struct factor){.kind = FACTOR_BAG, .name = fn, .n_operands = 1, .operands = operand});
}

static const struct sum *uninterpreted(struct sums *s, enum scalar_function fn, const struct sum *const *operands)
{
    uint32_t n = (uint32_t)function_arity(fn);
    return sum_of_factor(s, &(struct factor){.kind = FACTOR_FUNCTION,
                                             .name = fn,
                                             .n_operands = n,
                                             .operands = arena_copy_array(s->arena, operands, n)});
}

// 1 / (a * b) = 1/a * 1/b, where a is a number, and none of the terms of a sum is 0 times something.
static const struct sum *reciprocal(struct sums *s, const struct sum *a)
{
    const struct product *t = a->n == 1 ? &a->terms[0] : NULL;
    if (!t || t->n_indices + t->n_guards > 0)
        return uninterpreted(s, FN_RECIPROCAL, &a);
    const struct sum *result = sum_of_rational(s, rational(t->coefficient.d, t->coefficient.n));
    for (uint32_t i = 0; i < t->n_factors; i++) {
        const struct sum *factor = sum_of_factor(s, &t->factors[i]);
        result = sum_multiply(s, result, uninterpreted(s, FN_RECIPROCAL, &factor));
    }
    return result;
}

static bool is_increasing(enum scalar_function fn)
{
    static const enum scalar_function increasing[] = {FN_RELU,  FN_SIGMOID, FN_TANH,  FN_EXP,   FN_ERF,
                                                      FN_FLOOR, FN_CEIL,    FN_ROUND, FN_TRUNC, FN_SIGN,
                                                      FN_ASINH, FN_ATAN,    FN_SINH};
    return ANY(size_t, i, sizeof increasing / sizeof *increasing, fn == increasing[i]);
}

// An increasing function of the greatest of some numbers is the greatest of what it makes of them.
static const struct sum *apply_to_elements(struct sums *s, enum scalar_function fn, const struct factor *bag)
{
    const struct sum *elements = bag->operands[0];
    struct product *terms = arena_array(s->arena, struct product, elements->n + 1);
    for (uint32_t i = 0; i < elements->n; i++) {
        const struct sum *applied = sum_apply(s, fn, &elements->terms[i].factors[0].operands[0]);
        terms[i] = elements->terms[i];
        terms[i].factors = sum_element(s, applied)->terms[0].factors;
    }
    return sum_of_bag(s, (enum scalar_function)bag->name, sum_of_products(s, elements->n, terms));
}

const struct sum *sum_apply(struct sums *s, enum scalar_function fn, const struct sum *const *operands)
{
    struct rational number;
    bool is_of_bag = is_application(operands[0], FACTOR_BAG, FN_MAX) || is_application(operands[0], FACTOR_BAG, FN_MIN);
    if (s->bags_have_elements && is_of_bag && is_increasing(fn))
        return apply_to_elements(s, fn, only_factor(operands[0]));
    switch (fn) {
    case FN_ADD:
        return sum_add(s, operands[0], operands[1]);
    case FN_SUB:
        return sum_add(s, operands[0], sum_scale(s, operands[1], -1));
    case FN_NEG:
        return sum_scale(s, operands[0], -1);
    case FN_MUL:
        return sum_multiply(s, operands[0], operands[1]);
    case FN_DIV:
        return sum_multiply(s, operands[0], reciprocal(s, operands[1]));
    case FN_RECIPROCAL:
        return reciprocal(s, operands[0]);
    case FN_MAX:
    case FN_MIN:
        return sum_of_bag(s, fn, sum_add(s, sum_element(s, operands[0]), sum_element(s, operands[1])));
    case FN_RELU:
        if (is_number(operands[0], &number))
            return number.n > 0 ? operands[0] : &SUM_ZERO;
        return is_application(operands[0], FACTOR_FUNCTION, FN_RELU) ? operands[0] : uninterpreted(s, fn, operands);
    case FN_TANH:
        return operands[0]->n == 0 ? &SUM_ZERO : uninterpreted(s, fn, operands);
    default:
        return uninterpreted(s, fn, operands);
    }
}
