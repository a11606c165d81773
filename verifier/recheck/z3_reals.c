// The evaluator over terms of Z3: numbers stay numbers as long as they can.
#include "verifier/recheck/z3_reals.h"

#include "expressions/evaluation/evaluate.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

#define SCALAR struct z3_value
#define DOMAIN struct z3_reals *

static inline struct z3_value lowest(struct z3_reals *r)
{
    return (struct z3_value){-INFINITY, NULL};
}

static inline struct z3_value highest(struct z3_reals *r)
{
    return (struct z3_value){INFINITY, NULL};
}

static inline struct z3_value from_real(double value)
{
    return (struct z3_value){value, NULL};
}

static inline struct z3_value from_int(int64_t value)
{
    return (struct z3_value){(double)value, NULL};
}

static inline int64_t to_int(struct z3_value value)
{
    assert(!value.term);
    return (int64_t)value.number;
}

// --- terms -----------------------------------------------------------------------------------------------------------

// A dyadic fraction of moderate size is exact; any other number is a constant of its own.
Z3_ast z3_term(struct z3_reals *r, struct z3_value value)
{
    char text[64];
    int exponent = 0;
    if (value.term)
        return value.term;
    double scaled = value.number;
    for (; exponent < 40 && scaled != floor(scaled); exponent++)
        scaled *= 2;
    if (isfinite(scaled) && fabs(scaled) < 0x1p53 && scaled == floor(scaled)) {
        snprintf(text, sizeof text, "%lld/%lld", (long long)scaled, 1LL << exponent);
        return Z3_mk_numeral(r->z3, text, r->sort);
    }
    snprintf(text, sizeof text, "number %a", value.number);
    return Z3_mk_const(r->z3, Z3_mk_string_symbol(r->z3, text), r->sort);
}

static Z3_ast number(struct z3_reals *r, double value)
{
    return z3_term(r, from_real(value));
}

static bool is_number(struct z3_value v, double number)
{
    return !v.term && v.number == number;
}

static Z3_ast uninterpreted(struct z3_reals *r, enum scalar_function fn, const Z3_ast *operands)
{
    Z3_sort sorts[3] = {r->sort, r->sort, r->sort};
    unsigned arity = (unsigned)function_arity(fn);
    if (!r->functions[fn])
        r->functions[fn] = Z3_mk_func_decl(r->z3, Z3_mk_string_symbol(r->z3, function_name(fn)), arity, sorts, r->sort);
    return Z3_mk_app(r->z3, r->functions[fn], arity, operands);
}

static Z3_ast choose(struct z3_reals *r, Z3_ast condition, Z3_ast a, Z3_ast b)
{
    return Z3_mk_ite(r->z3, condition, a, b);
}

static Z3_ast truth(struct z3_reals *r, Z3_ast condition)
{
    return choose(r, condition, number(r, 1), number(r, 0));
}

static Z3_ast is_true(struct z3_reals *r, Z3_ast a)
{
    return Z3_mk_not(r->z3, Z3_mk_eq(r->z3, a, number(r, 0)));
}

static Z3_ast reciprocal(struct z3_reals *r, Z3_ast a)
{
    r->has_reciprocals = true;
    return uninterpreted(r, FN_RECIPROCAL, &a);
}

static Z3_ast divide(struct z3_reals *r, Z3_ast a, struct z3_value by)
{
    if (!by.term && by.number != 0 && isfinite(by.number))
        return Z3_mk_div(r->z3, a, z3_term(r, by));
    Z3_ast factors[2] = {a, reciprocal(r, z3_term(r, by))};
    return Z3_mk_mul(r->z3, 2, factors);
}

static Z3_ast larger(struct z3_reals *r, Z3_ast a, Z3_ast b)
{
    r->has_maxima = true;
    return choose(r, Z3_mk_ge(r->z3, a, b), a, b);
}

static Z3_ast smaller(struct z3_reals *r, Z3_ast a, Z3_ast b)
{
    r->has_maxima = true;
    return choose(r, Z3_mk_le(r->z3, a, b), a, b);
}

static bool is_increasing(enum scalar_function fn)
{
    return fn == FN_EXP || fn == FN_SIGMOID || fn == FN_TANH;
}

// Of which normal forms know more than that equal arguments give equal values, whatever else is met (T12, T13).
static bool is_lawful(enum scalar_function fn)
{
    switch (fn) {
    case FN_SIGMOID:
    case FN_SQRT:
    case FN_ACOS:
    case FN_ACOSH:
    case FN_POW:
    case FN_FMOD:
        return false;
    default:
        return true;
    }
}

// Of terms: the infinities are gone.
static Z3_ast apply_to_terms(struct z3_reals *r, enum scalar_function fn, const Z3_ast *x)
{
    Z3_context z3 = r->z3;
    Z3_ast zero = number(r, 0), truths[2];
    switch (fn) {
    case FN_ADD:
        return Z3_mk_add(z3, 2, x);
    case FN_SUB:
        return Z3_mk_sub(z3, 2, x);
    case FN_MUL:
        return Z3_mk_mul(z3, 2, x);
    case FN_NEG:
        return Z3_mk_unary_minus(z3, x[0]);
    case FN_RECIPROCAL:
        return reciprocal(r, x[0]);
    case FN_MAX:
        return larger(r, x[0], x[1]);
    case FN_MIN:
        return smaller(r, x[0], x[1]);
    case FN_RELU:
        return larger(r, x[0], zero);
    case FN_ABS:
        return larger(r, x[0], Z3_mk_unary_minus(z3, x[0]));
    case FN_LESS:
        return truth(r, Z3_mk_lt(z3, x[0], x[1]));
    case FN_LESS_EQUAL:
        return truth(r, Z3_mk_le(z3, x[0], x[1]));
    case FN_EQUAL:
        return truth(r, Z3_mk_eq(z3, x[0], x[1]));
    case FN_NOT:
        return truth(r, Z3_mk_eq(z3, x[0], zero));
    case FN_AND:
    case FN_OR:
        truths[0] = is_true(r, x[0]);
        truths[1] = is_true(r, x[1]);
        return truth(r, fn == FN_AND ? Z3_mk_and(z3, 2, truths) : Z3_mk_or(z3, 2, truths));
    case FN_WHERE:
        return choose(r, is_true(r, x[0]), x[1], x[2]);
    default:
        r->has_increasing = r->has_increasing || is_increasing(fn);
        r->has_lawful = r->has_lawful || is_lawful(fn);
        return uninterpreted(r, fn, x);
    }
}

static inline struct z3_value apply(struct z3_reals *r, enum scalar_function fn, struct z3_value a, struct z3_value b,
                                    struct z3_value c)
{
    if ((fn == FN_MAX && is_number(a, -INFINITY)) || (fn == FN_MIN && is_number(a, INFINITY)))
        return b;
    if ((fn == FN_MAX && is_number(b, -INFINITY)) || (fn == FN_MIN && is_number(b, INFINITY)))
        return a;
    if (fn == FN_DIV)
        return (struct z3_value){0, divide(r, z3_term(r, a), b)};
    Z3_ast operands[3];
    int arity = function_arity(fn);
    const struct z3_value values[3] = {a, b, c};
    for (int i = 0; i < arity; i++)
        operands[i] = z3_term(r, values[i]);
    return (struct z3_value){0, apply_to_terms(r, fn, operands)};
}

#include "expressions/evaluation/evaluate.inc"

void evaluate_z3(const struct definition *d, struct z3_reals *r, const struct z3_value *const *inputs,
                 struct z3_value *const *outputs, struct arena *scratch)
{
    evaluate_once(d, r, false, inputs, outputs, scratch);
}
