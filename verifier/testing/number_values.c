// Both sides at random numbers, by what the definitions say in doubles, or in integers.
#include "verifier/testing/number_values.h"

#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include <math.h>

// Small integers first, which read well in a counterexample; then positive reals, which logarithms take; then any.
// Integers are small, not negative, and any up to 30.
static double number_for(struct random *r, uint64_t seed, enum dtype dtype)
{
    if (dtype == DTYPE_BOOL)
        return (double)random_below(r, 2);
    if (!dtype_is_float(dtype) && seed % 3)
        return seed % 3 == 1 ? (double)random_below(r, 7) : (double)random_below(r, 61) - 30;
    switch (seed % 3) {
    case 0:
        return (double)random_below(r, 7) - 3;
    case 1:
        return 0.25 + random_unit(r);
    default:
        return random_normal(r);
    }
}

void number_values_make_inputs(const struct instance *in, uint64_t seed, struct number_values *v)
{
    struct random r = random_seed(seed);
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        v->inputs[i] = arena_array(in->scratch, double, n + 1);
        for (int64_t j = 0; j < n; j++)
            v->inputs[i][j] = number_for(&r, seed, in->types[i]->dtype);
    }
}

const double *number_values_of_term(const struct instance *in, const struct number_values *v, term_id term)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    return t->is_variable ? v->inputs[t->index] : v->of_node[t->index][t->output];
}

static bool has_floats(const struct definition *d)
{
    return ANY(int, i, d->n_inputs + d->n_stages, dtype_is_float(definition_tensor(d, i)->dtype));
}

static int64_t *integers_of(const double *numbers, int64_t n, struct arena *a)
{
    int64_t *integers = arena_array(a, int64_t, n + 1);
    for (int64_t i = 0; i < n && numbers; i++)
        integers[i] = (int64_t)numbers[i];
    return integers;
}

// Integers truncate what they divide.
static void evaluate_integers(const struct definition *d, const double *const *inputs, double *const *outputs,
                              struct arena *scratch)
{
    const int64_t *in[MAX_RULE_VARIABLES];
    int64_t **out = arena_array(scratch, int64_t *, d->n_outputs);
    for (int i = 0; i < d->n_inputs; i++)
        in[i] = integers_of(inputs[i], type_elements(definition_tensor(d, i)), scratch);
    for (int i = 0; i < d->n_outputs; i++)
        out[i] = integers_of(NULL, type_elements(definition_output(d, i)), scratch);
    evaluate_i64(d, in, out, scratch);
    for (int i = 0; i < d->n_outputs; i++)
        for (int64_t j = 0; j < type_elements(definition_output(d, i)); j++)
            outputs[i][j] = (double)out[i][j];
}

static void evaluate_node_numerically(const struct instance *in, struct number_values *v, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    const double *inputs[MAX_RULE_VARIABLES];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = number_values_of_term(in, v, n->inputs[i]);
    v->of_node[node] = arena_array(in->scratch, double *, d->n_outputs);
    for (int i = 0; i < d->n_outputs; i++)
        v->of_node[node][i] = arena_array(in->scratch, double, type_elements(definition_output(d, i)) + 1);
    if (has_floats(d))
        evaluate_plan_f64(typing_plan(in->typing, in->calls[node]), inputs, v->of_node[node], in->scratch);
    else
        evaluate_integers(d, inputs, v->of_node[node], in->scratch);
}

void number_values_evaluate(const struct instance *in, uint64_t seed, struct number_values *v)
{
    number_values_make_inputs(in, seed, v);
    for (uint32_t i = 0; i < in->equation->pattern->nodes.count; i++)
        if ((v->nodes >> i & 1) && in->calls[i])
            evaluate_node_numerically(in, v, i);
}

bool number_values_overflow(const struct instance *in, const struct number_values *v)
{
    bool is_infinite = false;
    for (uint32_t n = 0; n < in->equation->pattern->nodes.count && !is_infinite; n++) {
        const struct definition *d =
            (v->nodes >> n & 1) && in->calls[n] ? typing_definition(in->typing, in->calls[n]) : NULL;
        for (int i = 0; d && i < d->n_outputs; i++)
            for (int64_t j = 0; j < type_elements(definition_output(d, i)) && !is_infinite; j++)
                is_infinite = isinf(v->of_node[n][i][j]);
    }
    return is_infinite;
}
