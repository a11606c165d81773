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

static enum sign sum(enum sign a, enum sign b)
{
    return smaller(a, b) == SIGN_ANY ? SIGN_ANY : larger(a, b);
}

static enum sign sign_of_function(enum scalar_function fn, enum sign a, enum sign b, enum sign c)
{
    switch (fn) {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside)                                    \
    case FN_##enumerator:                                                                                              \
        return sign;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
    return SIGN_ANY;
}

static bool is_inside_of_domain(enum scalar_function fn, enum sign a, enum sign b)
{
    switch (fn) {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside)                                    \
    case FN_##enumerator:                                                                                              \
        return is_inside;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
    return true;
}

static enum sign sign_of_operand(const struct signed_definition *s, const struct expr_node *n, int operand)
{
    return operand < function_arity(n->fn) ? sign_of(s, n->operands[operand]) : SIGN_ANY;
}

// A product of a node with itself is a square.
static enum sign sign_of_application(const struct signed_definition *s, const struct expr_node *n)
{
    enum sign a = sign_of(s, n->a);
    if (n->fn == FN_MUL && n->a == n->b)
        return larger(a, SIGN_NOT_NEGATIVE);
    return sign_of_function(n->fn, a, sign_of_operand(s, n, 1), sign_of_operand(s, n, 2));
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
    return is_inside_of_domain(n->fn, sign_of(s, n->a), sign_of_operand(s, n, 1)) ||
           (n->fn == FN_DIV && is_number(s->d, n->b));
}

bool definition_divides(const struct definition *d)
{
    return vec_find(&d->nodes, n, n->kind == EXPR_APPLY && !is_inside_of_domain(n->fn, SIGN_ANY, SIGN_ANY));
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

// Is the count 0 at some values of the free variables from `v` on that it mentions?
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
