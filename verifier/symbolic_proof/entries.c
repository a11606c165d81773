// Equations of which an entry of either side is one formula of the entries at its place and of tensors of rank 0
// (docs/theory/symbolic.md, S10): Z3 is asked, in nonlinear arithmetic of real numbers, whether both sides are defined
// at the same numbers and are equal there. Functions that Z3 does not know are unknown numbers, one for each function
// and argument, of which a few laws are stated.
#include "verifier/symbolic_proof/entries.h"

#include "verifier/inequalities/z3_session.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/symbols.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_CALLS 40
#define STEP_LIMIT 1000000   // of Z3, for one question

// A real number, a truth value, or an infinity.
struct value {
    Z3_ast term;         // NULL: it is infinite
    Z3_ast is_defined;   // NULL: always
    bool is_truth;       // of sort Bool
    bool is_negative;
};
// An unknown function of known arguments.
struct call {
    enum scalar_function fn;
    Z3_ast a, b, result;   // b: NULL where there is one argument
};
struct formulas {
    struct family *family;
    struct z3_session *session;
    Z3_context z3;
    Z3_sort real;
    VEC(Z3_ast) facts;
    struct call calls[MOST_CALLS];
    uint32_t n_calls;
    struct value of_nodes[MAX_RULE_NODES], of_variables[MAX_RULE_VARIABLES];
    bool has_failed;
};
// The definition of a node, as it is read.
struct reading {
    struct formulas *fs;
    const struct pattern_node *node;
    uint32_t number;   // of the node
    const struct definition *d;
};

// --- Z3's terms ------------------------------------------------------------------------------------------------------

static Z3_ast number(const struct formulas *fs, int numerator, int denominator)
{
    return Z3_mk_real(fs->z3, numerator, denominator);
}

static Z3_ast product(const struct formulas *fs, Z3_ast a, Z3_ast b)
{
    return Z3_mk_mul(fs->z3, 2, (Z3_ast[]){a, b});
}

static Z3_ast both(const struct formulas *fs, Z3_ast a, Z3_ast b)
{
    return Z3_mk_and(fs->z3, 2, (Z3_ast[]){a, b});
}

static Z3_ast either(const struct formulas *fs, Z3_ast a, Z3_ast b)
{
    return Z3_mk_or(fs->z3, 2, (Z3_ast[]){a, b});
}

static Z3_ast is_zero(const struct formulas *fs, Z3_ast a)
{
    return Z3_mk_eq(fs->z3, a, number(fs, 0, 1));
}

static Z3_ast is_positive(const struct formulas *fs, Z3_ast a)
{
    return Z3_mk_gt(fs->z3, a, number(fs, 0, 1));
}

static Z3_ast is_not_negative(const struct formulas *fs, Z3_ast a)
{
    return Z3_mk_ge(fs->z3, a, number(fs, 0, 1));
}

static Z3_ast size_of(const struct formulas *fs, Z3_ast a)
{
    return Z3_mk_ite(fs->z3, is_not_negative(fs, a), a, Z3_mk_unary_minus(fs->z3, a));
}

static void state(struct formulas *fs, Z3_ast fact)
{
    vec_push(&fs->facts, fact);
}

static void state_if(struct formulas *fs, Z3_ast condition, Z3_ast fact)
{
    state(fs, Z3_mk_implies(fs->z3, condition, fact));
}

static Z3_ast named(const struct formulas *fs, const char *kind, unsigned long long which, Z3_sort sort)
{
    char name[40];
    snprintf(name, sizeof name, "%s%llu", kind, which);
    return Z3_mk_const(fs->z3, Z3_mk_string_symbol(fs->z3, name), sort);
}

// Dyadic numbers of a few digits are what they are; of another one nothing is known but that it is one.
static struct value value_of_real(const struct formulas *fs, double x)
{
    double scaled = x * 0x1p16;
    if (isinf(x))
        return (struct value){.is_negative = x < 0};
    if (fabs(x) < 0x1p14 && scaled == floor(scaled))
        return (struct value){.term = number(fs, (int)scaled, 1 << 16)};
    return (struct value){.term = named(fs, "number", (unsigned long long)real_to_bits(x), fs->real)};
}

static Z3_ast as_real(const struct formulas *fs, struct value v)
{
    return v.is_truth ? Z3_mk_ite(fs->z3, v.term, number(fs, 1, 1), number(fs, 0, 1)) : v.term;
}

static Z3_ast as_truth(const struct formulas *fs, struct value v)
{
    return v.is_truth ? v.term : Z3_mk_not(fs->z3, is_zero(fs, v.term));
}

// --- functions that Z3 does not know ---------------------------------------------------------------------------------

static bool is_odd(enum scalar_function fn)
{
    return fn == FN_TANH || fn == FN_ERF || fn == FN_SIN || fn == FN_SINH || fn == FN_ATAN || fn == FN_ASINH ||
           fn == FN_ROUND || fn == FN_TRUNC || fn == FN_ASIN || fn == FN_ATANH;
}

static bool is_even(enum scalar_function fn)
{
    return fn == FN_COS || fn == FN_COSH;
}

static bool is_increasing(enum scalar_function fn)
{
    return fn == FN_SIGMOID || fn == FN_EXP || fn == FN_FLOOR || (is_odd(fn) && fn != FN_SIN);
}

// f(-x) = -f(x), f(-x) = f(x), or f(-x) f(x) = 1.
static void state_of_opposites(struct formulas *fs, const struct call *x, const struct call *y)
{
    Z3_ast are_opposite = Z3_mk_eq(fs->z3, x->a, Z3_mk_unary_minus(fs->z3, y->a));
    if (is_odd(x->fn))
        state_if(fs, are_opposite, Z3_mk_eq(fs->z3, x->result, Z3_mk_unary_minus(fs->z3, y->result)));
    if (is_even(x->fn))
        state_if(fs, are_opposite, Z3_mk_eq(fs->z3, x->result, y->result));
    if (x->fn == FN_EXP)
        state_if(fs, are_opposite, Z3_mk_eq(fs->z3, product(fs, x->result, y->result), number(fs, 1, 1)));
}

// log(x) is half of log(y), or minus half of it, where y is x x, or 1 / (x x); and minus log(y) where x y is 1.
static void state_of_logarithms(struct formulas *fs, const struct call *x, const struct call *y)
{
    Z3_ast square = product(fs, x->a, x->a), one = number(fs, 1, 1);
    Z3_ast twice = product(fs, number(fs, 2, 1), x->result), opposite = Z3_mk_unary_minus(fs->z3, y->result);
    Z3_ast is_square = Z3_mk_eq(fs->z3, y->a, square), is_inverse = Z3_mk_eq(fs->z3, product(fs, x->a, y->a), one);
    Z3_ast is_inverse_square = Z3_mk_eq(fs->z3, product(fs, square, y->a), one);
    state_if(fs, both(fs, is_positive(fs, x->a), is_square), Z3_mk_eq(fs->z3, twice, y->result));
    state_if(fs, both(fs, is_positive(fs, x->a), is_inverse_square), Z3_mk_eq(fs->z3, twice, opposite));
    state_if(fs, both(fs, is_positive(fs, x->a), is_inverse), Z3_mk_eq(fs->z3, x->result, opposite));
}

// Remainders by one divisor are equal where dividends of one sign differ by it.
static void state_of_remainders(struct formulas *fs, const struct call *x, const struct call *y)
{
    Z3_ast is_same = Z3_mk_eq(fs->z3, x->b, y->b), moved = Z3_mk_add(fs->z3, 2, (Z3_ast[]){y->a, y->b});
    Z3_ast have_one_sign = is_not_negative(fs, product(fs, x->a, y->a));
    Z3_ast is_next = both(fs, Z3_mk_eq(fs->z3, x->a, moved), Z3_mk_not(fs->z3, is_zero(fs, y->b)));
    state_if(fs, both(fs, is_same, both(fs, have_one_sign, is_next)), Z3_mk_eq(fs->z3, x->result, y->result));
}

static void state_of_pair(struct formulas *fs, const struct call *x, const struct call *y)
{
    Z3_ast are_same = Z3_mk_eq(fs->z3, x->a, y->a);
    if (x->b)
        are_same = both(fs, are_same, Z3_mk_eq(fs->z3, x->b, y->b));
    state_if(fs, are_same, Z3_mk_eq(fs->z3, x->result, y->result));
    if (is_increasing(x->fn))
        state_if(fs, Z3_mk_le(fs->z3, x->a, y->a), Z3_mk_le(fs->z3, x->result, y->result));
    state_of_opposites(fs, x, y);
    if (x->fn == FN_LOG)
        state_of_logarithms(fs, x, y);
    if (x->fn == FN_FMOD)
        state_of_remainders(fs, x, y);
}

static Z3_ast call_of(struct formulas *fs, enum scalar_function fn, Z3_ast a, Z3_ast b);

static bool is_made_by(const struct formulas *fs, Z3_ast a, Z3_decl_kind kind)
{
    return Z3_is_app(fs->z3, a) && Z3_get_decl_kind(fs->z3, Z3_get_app_decl(fs->z3, Z3_to_app(fs->z3, a))) == kind;
}

// e^(x + y) = e^x e^y
static void state_of_exponential_of_sum(struct formulas *fs, Z3_ast sum, Z3_ast result)
{
    Z3_app app = Z3_to_app(fs->z3, sum);
    Z3_ast power = number(fs, 1, 1);
    for (unsigned i = 0; i < Z3_get_app_num_args(fs->z3, app); i++)
        power = product(fs, power, call_of(fs, FN_EXP, Z3_get_app_arg(fs->z3, app, i), NULL));
    state(fs, Z3_mk_eq(fs->z3, result, power));
}

// e^(-n x) e^(n x) = 1, e^(2 x) = e^x e^x and e^(3 x) = e^x e^x e^x.
static void state_of_exponential_of_multiple(struct formulas *fs, Z3_ast multiple, Z3_ast result)
{
    Z3_app app = Z3_to_app(fs->z3, multiple);
    Z3_ast factor = Z3_get_app_arg(fs->z3, app, 0), base, power;
    int64_t numerator, denominator;
    if (Z3_get_app_num_args(fs->z3, app) != 2 || !Z3_is_numeral_ast(fs->z3, factor) ||
        !Z3_get_numeral_small(fs->z3, factor, &numerator, &denominator))
        return;
    if (numerator < 0) {
        power = call_of(fs, FN_EXP, Z3_mk_unary_minus(fs->z3, multiple), NULL);
        state(fs, Z3_mk_eq(fs->z3, product(fs, result, power), number(fs, 1, 1)));
    } else if (denominator == 1 && numerator <= 3) {
        base = power = call_of(fs, FN_EXP, Z3_get_app_arg(fs->z3, app, 1), NULL);
        for (int64_t i = 1; i < numerator; i++)
            power = product(fs, power, base);
        state(fs, Z3_mk_eq(fs->z3, result, power));
    }
}

static void state_of_exponential(struct formulas *fs, Z3_ast a, Z3_ast result)
{
    if (is_made_by(fs, a, Z3_OP_ADD))
        state_of_exponential_of_sum(fs, a, result);
    else if (is_made_by(fs, a, Z3_OP_MUL))
        state_of_exponential_of_multiple(fs, a, result);
    state(fs, is_positive(fs, result));
    state(fs, Z3_mk_eq(fs->z3, call_of(fs, FN_LOG, result, NULL), a));
    state_if(fs, is_zero(fs, a), Z3_mk_eq(fs->z3, result, number(fs, 1, 1)));
}

static void state_of_root(struct formulas *fs, Z3_ast a, Z3_ast result)
{
    Z3_ast is_root = Z3_mk_eq(fs->z3, product(fs, result, result), a);
    state_if(fs, is_not_negative(fs, a), both(fs, is_not_negative(fs, result), is_root));
}

static void state_of_remainder(struct formulas *fs, Z3_ast a, Z3_ast b, Z3_ast result)
{
    Z3_ast is_defined = Z3_mk_not(fs->z3, is_zero(fs, b));
    state_if(fs, is_defined, Z3_mk_lt(fs->z3, size_of(fs, result), size_of(fs, b)));
    state_if(fs, both(fs, is_defined, Z3_mk_lt(fs->z3, size_of(fs, a), size_of(fs, b))), Z3_mk_eq(fs->z3, result, a));
}

// The power where the exponent is this number.
static void state_of_power(struct formulas *fs, Z3_ast a, Z3_ast b, Z3_ast result, int exponent)
{
    Z3_ast power = number(fs, 1, 1), is_this = Z3_mk_eq(fs->z3, b, number(fs, exponent, 1));
    for (int i = 0; i < abs(exponent); i++)
        power = product(fs, power, a);
    if (exponent >= 0)
        state_if(fs, is_this, Z3_mk_eq(fs->z3, result, power));
    else
        state_if(fs, both(fs, is_this, Z3_mk_not(fs->z3, is_zero(fs, a))),
                 Z3_mk_eq(fs->z3, product(fs, result, power), number(fs, 1, 1)));
}

// The argument of the exponential that the term is, or NULL.
static Z3_ast argument_of_exponential(const struct formulas *fs, Z3_ast a)
{
    const struct call *call = FIND(fs->calls, fs->n_calls, c, c->fn == FN_EXP && c->result == a);
    return call ? call->a : NULL;
}

static void state_of_powers(struct formulas *fs, Z3_ast a, Z3_ast b, Z3_ast result)
{
    for (int exponent = -2; exponent <= 3; exponent++)
        state_of_power(fs, a, b, result, exponent);
    Z3_ast of_half = both(fs, Z3_mk_eq(fs->z3, b, number(fs, 1, 2)), is_not_negative(fs, a));
    Z3_ast is_root = Z3_mk_eq(fs->z3, product(fs, result, result), a);
    state_if(fs, of_half, both(fs, is_not_negative(fs, result), is_root));
    Z3_ast argument = argument_of_exponential(fs, a);
    if (argument)
        state(fs, Z3_mk_eq(fs->z3, result, call_of(fs, FN_EXP, product(fs, argument, b), NULL)));
}

static void state_of_call(struct formulas *fs, enum scalar_function fn, Z3_ast a, Z3_ast b, Z3_ast result)
{
    if (is_odd(fn))
        state_if(fs, is_zero(fs, a), is_zero(fs, result));
    if (fn == FN_EXP)
        state_of_exponential(fs, a, result);
    else if (fn == FN_SQRT)
        state_of_root(fs, a, result);
    else if (fn == FN_FMOD)
        state_of_remainder(fs, a, b, result);
    else if (fn == FN_POW)
        state_of_powers(fs, a, b, result);
}

static Z3_ast call_of(struct formulas *fs, enum scalar_function fn, Z3_ast a, Z3_ast b)
{
    a = Z3_simplify(fs->z3, a);
    b = b ? Z3_simplify(fs->z3, b) : NULL;
    for (uint32_t i = 0; i < fs->n_calls; i++)
        if (fs->calls[i].fn == fn && fs->calls[i].a == a && fs->calls[i].b == b)
            return fs->calls[i].result;
    if (fs->n_calls == MOST_CALLS) {
        fs->has_failed = true;
        return a;
    }
    struct call *call = &fs->calls[fs->n_calls];
    *call = (struct call){fn, a, b, named(fs, "call", fs->n_calls, fs->real)};
    fs->n_calls++;
    state_of_call(fs, fn, a, b, call->result);
    return call->result;
}

// log(x e^y) = log(x) + y
static void state_of_shifted_logarithms(struct formulas *fs, const struct call *x, const struct call *y)
{
    if (argument_of_exponential(fs, y->a))   // it is known already
        return;
    EACH(fs->calls, fs->n_calls, e) {
        if (e->fn != FN_EXP)
            continue;
        Z3_ast is_multiple = Z3_mk_eq(fs->z3, y->a, product(fs, x->a, e->result));
        Z3_ast sum = Z3_mk_add(fs->z3, 2, (Z3_ast[]){x->result, e->a});
        state_if(fs, both(fs, is_positive(fs, x->a), is_multiple), Z3_mk_eq(fs->z3, y->result, sum));
    }
}

static void state_of_pairs(struct formulas *fs)
{
    for (uint32_t i = 0; i < fs->n_calls; i++)
        for (uint32_t j = 0; j < fs->n_calls; j++) {
            if (i == j || fs->calls[i].fn != fs->calls[j].fn)
                continue;
            state_of_pair(fs, &fs->calls[i], &fs->calls[j]);
            if (fs->calls[i].fn == FN_LOG)
                state_of_shifted_logarithms(fs, &fs->calls[i], &fs->calls[j]);
        }
}

// --- formulas --------------------------------------------------------------------------------------------------------

static bool fails(struct formulas *fs)
{
    fs->has_failed = true;
    return false;
}

// Both are defined; NULL: always.
static Z3_ast where_both(const struct formulas *fs, Z3_ast a, Z3_ast b)
{
    return a && b && a != b ? both(fs, a, b) : a ? a : b;
}

static Z3_ast truth_of(const struct formulas *fs, Z3_ast is_defined)
{
    return is_defined ? is_defined : Z3_mk_true(fs->z3);
}

// An integer, as far as that is seen.
static Z3_ast is_whole(const struct formulas *fs, Z3_ast b)
{
    int64_t value, numerator, denominator;
    b = Z3_simplify(fs->z3, b);
    if (Z3_is_numeral_ast(fs->z3, b) && Z3_get_numeral_int64(fs->z3, b, &value))
        return Z3_mk_true(fs->z3);
    if (Z3_is_numeral_ast(fs->z3, b) && Z3_get_numeral_small(fs->z3, b, &numerator, &denominator))
        return denominator == 1 ? Z3_mk_true(fs->z3) : Z3_mk_false(fs->z3);
    return named(fs, "whole", Z3_get_ast_id(fs->z3, b), Z3_mk_bool_sort(fs->z3));
}

// 0 to a power below 0, and a negative number to one that is no integer, are none.
static Z3_ast is_power(const struct formulas *fs, Z3_ast a, Z3_ast b)
{
    Z3_ast of_zero = both(fs, is_zero(fs, a), is_not_negative(fs, b));
    return either(fs, is_positive(fs, a),
                  either(fs, of_zero, both(fs, Z3_mk_not(fs->z3, is_not_negative(fs, a)), is_whole(fs, b))));
}

static struct value extremum(const struct formulas *fs, struct value x, struct value y, bool is_maximum)
{
    if (!x.term || !y.term) {
        struct value infinite = x.term ? y : x, other = x.term ? x : y;
        return infinite.is_negative == is_maximum ? other : infinite;
    }
    Z3_ast a = as_real(fs, x), b = as_real(fs, y);
    Z3_ast is_first = is_maximum ? Z3_mk_ge(fs->z3, a, b) : Z3_mk_le(fs->z3, a, b);
    return (struct value){.term = Z3_mk_ite(fs->z3, is_first, a, b)};
}

// The value that is not chosen need not be defined.
static struct value choice(const struct formulas *fs, struct value condition, struct value x, struct value y)
{
    bool are_truths = x.is_truth && y.is_truth;
    Z3_ast a = are_truths ? x.term : as_real(fs, x), b = are_truths ? y.term : as_real(fs, y);
    Z3_ast is_first = as_truth(fs, condition), is_defined = NULL;
    if (x.is_defined || y.is_defined)
        is_defined = Z3_mk_ite(fs->z3, is_first, truth_of(fs, x.is_defined), truth_of(fs, y.is_defined));
    return (struct value){.term = Z3_mk_ite(fs->z3, is_first, a, b),
                          .is_defined = where_both(fs, condition.is_defined, is_defined),
                          .is_truth = are_truths};
}

static struct value truth(Z3_ast term)
{
    return (struct value){.term = term, .is_truth = true};
}

static struct value comparison(const struct formulas *fs, enum scalar_function fn, struct value x, struct value y)
{
    if (fn == FN_EQUAL && x.is_truth && y.is_truth)
        return truth(Z3_mk_eq(fs->z3, x.term, y.term));
    Z3_ast a = as_real(fs, x), b = as_real(fs, y);
    return truth(fn == FN_EQUAL  ? Z3_mk_eq(fs->z3, a, b)
                 : fn == FN_LESS ? Z3_mk_lt(fs->z3, a, b)
                                 : Z3_mk_le(fs->z3, a, b));
}

static struct value logic(const struct formulas *fs, enum scalar_function fn, struct value x, struct value y)
{
    Z3_ast a = as_truth(fs, x), b = fn == FN_NOT ? NULL : as_truth(fs, y);
    switch (fn) {
    case FN_AND:
        return truth(both(fs, a, b));
    case FN_OR:
        return truth(either(fs, a, b));
    case FN_XOR:
        return truth(Z3_mk_xor(fs->z3, a, b));
    default:
        return truth(Z3_mk_not(fs->z3, a));
    }
}

static struct value where(Z3_ast is_defined, Z3_ast term)
{
    return (struct value){.term = term, .is_defined = is_defined};
}

// Defined is what it asks of its arguments alone.
static struct value arithmetic(struct formulas *fs, enum scalar_function fn, Z3_ast a, Z3_ast b)
{
    Z3_context z3 = fs->z3;
    Z3_ast zero = number(fs, 0, 1), one = number(fs, 1, 1), minus = Z3_mk_unary_minus(z3, a);
    switch (fn) {
    case FN_ADD:
        return (struct value){.term = Z3_mk_add(z3, 2, (Z3_ast[]){a, b})};
    case FN_SUB:
        return (struct value){.term = Z3_mk_sub(z3, 2, (Z3_ast[]){a, b})};
    case FN_MUL:
        return (struct value){.term = product(fs, a, b)};
    case FN_NEG:
        return (struct value){.term = minus};
    case FN_RELU:
        return (struct value){.term = Z3_mk_ite(z3, is_not_negative(fs, a), a, zero)};
    case FN_ABS:
        return (struct value){.term = size_of(fs, a)};
    case FN_SIGN:
        minus = Z3_mk_ite(z3, is_zero(fs, a), zero, number(fs, -1, 1));
        return (struct value){.term = Z3_mk_ite(z3, is_positive(fs, a), one, minus)};
    case FN_DIV:
        return where(Z3_mk_not(z3, is_zero(fs, b)), Z3_mk_div(z3, a, b));
    case FN_RECIPROCAL:
        return where(Z3_mk_not(z3, is_zero(fs, a)), Z3_mk_div(z3, one, a));
    case FN_CEIL:   // -floor(-a)
        return where(NULL, Z3_mk_unary_minus(z3, call_of(fs, FN_FLOOR, minus, NULL)));
    case FN_SQRT:
        return where(is_not_negative(fs, a), call_of(fs, fn, a, NULL));
    case FN_LOG:
        return where(is_positive(fs, a), call_of(fs, fn, a, NULL));
    case FN_LOG1P:
        a = Z3_mk_add(z3, 2, (Z3_ast[]){one, a});
        return where(is_positive(fs, a), call_of(fs, FN_LOG, a, NULL));
    case FN_ASIN:
    case FN_ACOS:
        return where(Z3_mk_le(z3, size_of(fs, a), one), call_of(fs, fn, a, NULL));
    case FN_ATANH:
        return where(Z3_mk_lt(z3, size_of(fs, a), one), call_of(fs, fn, a, NULL));
    case FN_ACOSH:
        return where(Z3_mk_ge(z3, a, one), call_of(fs, fn, a, NULL));
    case FN_FMOD:
        return where(Z3_mk_not(z3, is_zero(fs, b)), call_of(fs, fn, a, b));
    case FN_POW:
        return where(is_power(fs, a, b), call_of(fs, fn, a, b));
    default:
        if (!is_increasing(fn) && !is_odd(fn) && !is_even(fn))
            fails(fs);
        return where(NULL, call_of(fs, fn, a, b));
    }
}

static bool value_of(const struct reading *r, expr e, struct value *ret_value);

static bool is_comparison(enum scalar_function fn)
{
    return fn == FN_LESS || fn == FN_LESS_EQUAL || fn == FN_EQUAL;
}

// Comparisons answer for what is no number, too: of that nothing is said.
static bool apply(struct formulas *fs, enum scalar_function fn, const struct value *x, struct value *ret_value)
{
    int arity = function_arity(fn);
    Z3_ast are_defined = NULL;
    bool may_be_infinite = fn == FN_MAX || fn == FN_MIN;
    for (int i = 0; i < arity; i++)
        are_defined = where_both(fs, are_defined, x[i].is_defined);
    for (int i = 0; i < arity && !may_be_infinite; i++)
        if (!x[i].term)
            return fails(fs);
    if (is_comparison(fn) && are_defined)
        return fails(fs);
    if (fn == FN_WHERE) {
        *ret_value = choice(fs, x[0], x[1], x[2]);
        return true;
    }
    if (may_be_infinite)
        *ret_value = extremum(fs, x[0], x[1], fn == FN_MAX);
    else if (is_comparison(fn))
        *ret_value = comparison(fs, fn, x[0], x[1]);
    else if (fn == FN_AND || fn == FN_OR || fn == FN_XOR || fn == FN_NOT)
        *ret_value = logic(fs, fn, x[0], x[1]);
    else
        *ret_value = arithmetic(fs, fn, as_real(fs, x[0]), arity > 1 ? as_real(fs, x[1]) : NULL);
    ret_value->is_defined = where_both(fs, ret_value->is_defined, are_defined);
    return !fs->has_failed;
}

static bool value_of_function(const struct reading *r, const struct expr_node *n, struct value *ret_value)
{
    struct value x[3] = {{0}};
    return ALL(int, i, function_arity((enum scalar_function)n->fn), value_of(r, n->operands[i], &x[i])) &&
           apply(r->fs, (enum scalar_function)n->fn, x, ret_value);
}

// The tensor that is read has rank 0, or is read at the entry's own place, where there is one.
static bool is_read_here(const struct definition *d, const struct expr_node *n)
{
    if (n->b != OUTSIDE_NEVER)
        return false;
    for (uint32_t i = 0; i < n->count; i++) {
        const struct expr_node *index = &d->nodes.items[d->indices.items[n->a + i]];
        if (index->kind != EXPR_VARIABLE || n->count != d->stages[0].type.rank ||
            index->value != d->stages[0].first_variable + i)
            return false;
    }
    return true;
}

static const struct value *value_of_term(const struct formulas *fs, term_id term)
{
    const struct term *t = &fs->family->equation->pattern->terms.items[term];
    return t->is_variable ? &fs->of_variables[t->index] : &fs->of_nodes[t->index];
}

static bool is_real_in_all_lanes(const struct reading *r, expr e)
{
    double real = r->d->nodes.items[e].real;
    return !isnan(real) &&
           ALL(int, l, LANES, r->fs->family->lanes[l].definitions[r->number].nodes.items[e].real == real);
}

static bool value_of(const struct reading *r, expr e, struct value *ret_value)
{
    const struct expr_node *n = &r->d->nodes.items[e];
    if (n->kind == EXPR_REAL && is_real_in_all_lanes(r, e)) {
        *ret_value = value_of_real(r->fs, n->real);
        return true;
    }
    if (n->kind == EXPR_READ && n->value < r->d->n_inputs && is_read_here(r->d, n)) {
        *ret_value = *value_of_term(r->fs, r->node->inputs[n->value]);
        return true;
    }
    return n->kind == EXPR_APPLY ? value_of_function(r, n, ret_value) : fails(r->fs);
}

// A number that stands for a truth value.
static struct value as_stored(const struct formulas *fs, struct value v, enum dtype dtype)
{
    struct value stored = v;
    stored.is_truth = v.is_truth || (dtype == DTYPE_BOOL && v.term);
    stored.term = stored.is_truth && !v.is_truth ? as_truth(fs, v) : v.term;
    return stored;
}

static bool read_node(struct formulas *fs, uint32_t number_of_node)
{
    const struct pattern *p = fs->family->equation->pattern;
    const struct definition *d = &fs->family->lanes[0].definitions[number_of_node];
    struct reading r = {fs, &p->nodes.items[number_of_node], number_of_node, d};
    struct value *value = &fs->of_nodes[number_of_node];
    if (d->n_stages != 1 || d->n_outputs != 1 || dtype_is_integer(definition_output(d, 0)->dtype) ||
        !value_of(&r, d->stages[0].body, value))
        return false;
    *value = as_stored(fs, *value, definition_output(d, 0)->dtype);
    return true;
}

// Integers are real numbers: where none is computed, what is so of all of these is so of them.
static void name_variables(struct formulas *fs)
{
    const struct family *f = fs->family;
    for (uint32_t v = 0; v < f->equation->pattern->n_variables; v++) {
        bool is_truth = f->outline.types[v] && f->outline.types[v]->dtype == DTYPE_BOOL;
        Z3_sort sort = is_truth ? Z3_mk_bool_sort(fs->z3) : fs->real;
        fs->of_variables[v] = (struct value){.term = named(fs, "x", v, sort), .is_truth = is_truth};
    }
}

// --- the question ----------------------------------------------------------------------------------------------------

static bool have_one_shape(struct family *f, term_id left, term_id right)
{
    for (int axis = 0; axis < family_type(f, &f->lanes[0], left)->rank; axis++) {
        poly x = family_size(f, left, axis), y = family_size(f, right, axis);
        if (x == NO_POLY || y == NO_POLY || family_resolved(f, x) != family_resolved(f, y))
            return false;
    }
    return true;
}

static bool always_holds(const struct formulas *fs, Z3_ast claim)
{
    Z3_ast facts = Z3_mk_and(fs->z3, (unsigned)fs->facts.count, fs->facts.items);
    return z3_session_contradicts(fs->session, both(fs, facts, Z3_mk_not(fs->z3, claim)), STEP_LIMIT);
}

// Defined at the same numbers, and equal there.
static bool pair_follows(struct formulas *fs, term_id left, term_id right)
{
    struct value x = *value_of_term(fs, left), y = *value_of_term(fs, right);
    if (!x.term || !y.term || x.is_truth != y.is_truth || !have_one_shape(fs->family, left, right))
        return false;
    Z3_ast of_x = truth_of(fs, x.is_defined), of_y = truth_of(fs, y.is_defined);
    Z3_ast are_equal = Z3_mk_implies(fs->z3, of_x, Z3_mk_eq(fs->z3, x.term, y.term));
    return always_holds(fs, both(fs, Z3_mk_iff(fs->z3, of_x, of_y), are_equal));
}

static bool formulas_follow(struct formulas *fs)
{
    const struct equation *eq = fs->family->equation;
    bool follow = eq->pattern->nodes.count > 0;
    name_variables(fs);
    follow = follow && ALL(uint32_t, n, eq->pattern->nodes.count, read_node(fs, n));
    if (!follow)
        return false;
    state_of_pairs(fs);
    return follow && ALL(uint32_t, i, eq->n_pairs, !fs->has_failed && pair_follows(fs, eq->left[i], eq->right[i]));
}

bool entries_are_equal(struct family *f, struct z3_session *session)
{
    struct formulas *fs = arena_new(f->arena, struct formulas);
    *fs = (struct formulas){.family = f, .session = session, .z3 = z3_session_context(session)};
    fs->real = Z3_mk_real_sort(fs->z3);
    bool follow = formulas_follow(fs);
    vec_free(&fs->facts);
    return follow;
}
