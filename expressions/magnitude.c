// Largest absolute values, by the form of a definition's expressions: those of sums add up, those of products multiply.
#include "expressions/magnitude.h"

#include "expressions/definition.h"
#include <math.h>

#define UNKNOWN NAN

struct bounded_definition {
    const struct definition *d;
    const double *inputs;
};

static double magnitude_of(const struct bounded_definition *b, expr e);

// fmax takes what is unknown for the smaller one.
static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? UNKNOWN : fmax(a, b);
}

// Outside of a tensor there is 0, or what no maximum is.
static double magnitude_of_read(const struct bounded_definition *b, const struct expr_node *n)
{
    if (n->value < b->d->n_inputs)
        return b->inputs[n->value];
    const struct stage *stage = &b->d->stages[n->value - b->d->n_inputs];
    return stage->has_body ? magnitude_of(b, stage->body) : UNKNOWN;
}

static double magnitude_of_function(enum scalar_function fn, double a, double b, double c)
{
    switch (fn) {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside)                                    \
    case FN_##enumerator:                                                                                              \
        return magnitude;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
    return UNKNOWN;
}

static double magnitude_of_application(const struct bounded_definition *b, const struct expr_node *n)
{
    double of[3];
    for (int i = 0; i < 3; i++)
        of[i] = i < function_arity(n->fn) ? magnitude_of(b, n->operands[i]) : 0;
    return magnitude_of_function((enum scalar_function)n->fn, of[0], of[1], of[2]);
}

static double magnitude_of_reduction(const struct bounded_definition *b, const struct expr_node *n)
{
    double of_one = magnitude_of(b, n->a), count = (double)b->d->extents.items[n->value];
    return n->fn == FN_ADD ? count * of_one : n->fn == FN_MUL ? pow(fmax(of_one, 1), count) : of_one;
}

static double magnitude_of(const struct bounded_definition *b, expr e)
{
    const struct expr_node *n = &b->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return fabs(n->real);
    case EXPR_READ:
        return magnitude_of_read(b, n);
    case EXPR_APPLY:
        return magnitude_of_application(b, n);
    case EXPR_REDUCE:
        return magnitude_of_reduction(b, n);
    case EXPR_SELECT:
        return larger(magnitude_of(b, n->b), magnitude_of(b, n->c));
    default:
        return UNKNOWN;
    }
}

double definition_magnitude(const struct definition *d, int output, const double *magnitudes_of_inputs)
{
    struct bounded_definition b = {d, magnitudes_of_inputs};
    const struct stage *stage = &d->stages[d->outputs[output]];
    return stage->has_body ? magnitude_of(&b, stage->body) : UNKNOWN;
}
