// Definitions that divide, or take roots, logarithms and the like, of what may be outside of the domain: by the signs
// that the form of their expressions says. What is not seen to be inside counts as outside.
#include "expressions/definedness.h"

#include "expressions/definition.h"

enum sign { SIGN_ANY, SIGN_NOT_NEGATIVE, SIGN_POSITIVE };

// One bit for each input all of whose entries are positive.
struct signed_definition {
    const struct definition *d;
    unsigned positive_inputs;
};

static enum sign smaller(enum sign x, enum sign y)
{
    return x < y ? x : y;
}

static enum sign larger(enum sign x, enum sign y)
{
    return x > y ? x : y;
}

static enum sign sign_of(const struct signed_definition *s, expr e);

static enum sign sign_of_read(const struct signed_definition *s, const struct expr_node *n)
{
    const struct definition *d = s->d;
    const struct stage *stage = n->value < d->n_inputs ? NULL : &d->stages[n->value - d->n_inputs];
    bool is_positive = !stage && n->value < 32 && (s->positive_inputs >> n->value & 1);
    enum sign inside = is_positive ? SIGN_POSITIVE : stage && stage->has_body ? sign_of(s, stage->body) : SIGN_ANY;
    return n->b == OUTSIDE_NEVER ? inside : n->b == OUTSIDE_ZERO ? smaller(inside, SIGN_NOT_NEGATIVE) : SIGN_ANY;
}

static enum sign sign_of_sum(enum sign a, enum sign b)
{
    return smaller(a, b) == SIGN_ANY ? SIGN_ANY : larger(a, b);
}

// A product of a node with itself is a square.
static enum sign sign_of_product(const struct expr_node *n, enum sign a, enum sign b)
{
    return n->a == n->b ? larger(a, SIGN_NOT_NEGATIVE) : smaller(a, b);
}

static enum sign sign_of_application(const struct signed_definition *s, const struct expr_node *n)
{
    enum sign a = sign_of(s, n->a), b = function_arity(n->fn) > 1 ? sign_of(s, n->b) : SIGN_ANY;
    switch ((enum scalar_function)n->fn) {
    case FN_ADD:
        return sign_of_sum(a, b);
    case FN_MUL:
        return sign_of_product(n, a, b);
    case FN_DIV:
        return b == SIGN_POSITIVE ? a : SIGN_ANY;
    case FN_EXP:
    case FN_SIGMOID:
    case FN_COSH:
        return SIGN_POSITIVE;
    case FN_ABS:
    case FN_RELU:
        return larger(a, SIGN_NOT_NEGATIVE);
    case FN_SQRT:
    case FN_LOG1P:
        return a;
    case FN_RECIPROCAL:
    case FN_POW:
        return a == SIGN_POSITIVE ? a : SIGN_ANY;
    case FN_MAX:
        return larger(a, b);
    case FN_MIN:
        return smaller(a, b);
    case FN_WHERE:
        return smaller(b, sign_of(s, n->c));
    default:
        return SIGN_ANY;
    }
}

static enum sign sign_of(const struct signed_definition *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return n->real > 0 ? SIGN_POSITIVE : n->real == 0 ? SIGN_NOT_NEGATIVE : SIGN_ANY;
    case EXPR_READ:
        return sign_of_read(s, n);
    case EXPR_APPLY:
        return sign_of_application(s, n);
    case EXPR_REDUCE:
        return sign_of(s, n->a);
    case EXPR_SELECT:
        return smaller(sign_of(s, n->b), sign_of(s, n->c));
    default:
        return SIGN_ANY;
    }
}

static bool divides(const struct expr_node *n)
{
    switch ((enum scalar_function)n->fn) {
    case FN_DIV:
    case FN_FMOD:
    case FN_RECIPROCAL:
    case FN_LOG:
    case FN_LOG1P:
    case FN_SQRT:
    case FN_POW:
    case FN_TAN:
    case FN_ASIN:
    case FN_ACOS:
    case FN_ACOSH:
    case FN_ATANH:
        return true;
    default:
        return false;
    }
}

// A number of places: sums, products and choices of numbers that are not negative. No entry changes it.
static bool is_count(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    bool multiplies = n->kind == EXPR_APPLY && n->fn == FN_MUL;
    return n->kind == EXPR_REDUCE   ? n->fn == FN_ADD && is_count(d, n->a)
           : n->kind == EXPR_SELECT ? is_count(d, n->b) && is_count(d, n->c)
           : multiplies             ? is_count(d, n->a) && is_count(d, n->b)
                                    : n->kind == EXPR_REAL && n->real >= 0;
}

// Places are counted where the program is built (definition_counts_none).
static bool is_number(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    return n->kind == EXPR_REAL ? n->real != 0 : is_count(d, e);
}

// Is what a function is of inside of its domain?
static bool is_inside(const struct signed_definition *s, const struct expr_node *n)
{
    switch ((enum scalar_function)n->fn) {
    case FN_DIV:
        return is_number(s->d, n->b) || sign_of(s, n->b) == SIGN_POSITIVE;
    case FN_FMOD:
        return sign_of(s, n->b) == SIGN_POSITIVE;
    case FN_RECIPROCAL:
    case FN_LOG:
    case FN_POW:
        return sign_of(s, n->a) == SIGN_POSITIVE;
    case FN_LOG1P:
    case FN_SQRT:
        return sign_of(s, n->a) != SIGN_ANY;
    default:
        return !divides(n);
    }
}

bool definition_divides(const struct definition *d)
{
    return ANY(size_t, e, d->nodes.count, d->nodes.items[e].kind == EXPR_APPLY && divides(&d->nodes.items[e]));
}

bool definition_is_partial(const struct definition *d, unsigned positive_inputs)
{
    struct signed_definition s = {d, positive_inputs};
    return ANY(size_t, e, d->nodes.count, d->nodes.items[e].kind == EXPR_APPLY && !is_inside(&s, &d->nodes.items[e])) ||
           d->is_data_dependent;
}

static double count_at(const struct definition *d, expr e, int64_t *variables)
{
    const struct expr_node *n = &d->nodes.items[e];
    double count = 0;
    if (n->kind == EXPR_REAL)
        return n->real;
    if (n->kind == EXPR_SELECT)
        return count_at(d, index_value(d, n->a, variables) >= 0 ? n->b : n->c, variables);
    if (n->kind == EXPR_APPLY)
        return count_at(d, n->a, variables) * count_at(d, n->b, variables);
    for (int64_t i = 0; i < d->extents.items[n->value]; i++) {
        variables[n->value] = i;
        count += count_at(d, n->a, variables);
    }
    return count;
}

static bool sums_over(const struct definition *d, expr e, size_t v)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = expr_operands(d, e);
    return (n->kind == EXPR_REDUCE && (size_t)n->value == v) ||
           ANY(uint32_t, i, below.n, sums_over(d, below.items[i], v));
}

// At some values of the free variables from `v` on that it mentions.
static bool counts_none(const struct definition *d, expr e, size_t v, int64_t *variables)
{
    if (v == d->extents.count)
        return !(count_at(d, e, variables) > 0);
    bool is_so = false;
    bool is_free = definition_mentions(d, e, (int64_t)v) && !sums_over(d, e, v);
    int64_t extent = is_free ? d->extents.items[v] : 1;
    for (int64_t i = 0; i < extent && !is_so; i++) {
        variables[v] = i;
        is_so = counts_none(d, e, v + 1, variables);
    }
    return is_so;
}

bool definition_counts_none(const struct definition *d)
{
    LOCAL_ARRAY(int64_t, variables, d->extents.count + 1);
    return !d->is_data_dependent &&
           vec_find(&d->nodes, n,
                    n->kind == EXPR_APPLY && n->fn == FN_DIV && d->nodes.items[n->b].kind != EXPR_REAL &&
                        is_count(d, n->b) && counts_none(d, n->b, 0, variables));
}

bool definition_is_positive(const struct definition *d, unsigned positive_inputs)
{
    struct signed_definition s = {d, positive_inputs};
    const struct stage *stages = d->stages;
    return !d->is_data_dependent &&
           ALL(int, i, d->n_outputs,
               stages[d->outputs[i]].has_body &&sign_of(&s, stages[d->outputs[i]].body) == SIGN_POSITIVE);
}
