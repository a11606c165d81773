// Evaluation modulo the prime p = 2^61 - 1, with the functions of field_functions.h.
#include "expressions/evaluate.h"
#include "expressions/evaluate_entry.h"

#include "expressions/definition.h"
#include "expressions/field_functions.h"
#include <assert.h>

#define SCALAR uint64_t
#define DOMAIN uint64_t
#define LAZY_SUM field_wide
#define LAZY_PRODUCTS FIELD_LAZY_PRODUCTS
#define reduce_lazily field_reduce_wide

#include "expressions/evaluate.inc"

void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch)
{
    evaluate_once(d, key, inputs, outputs, scratch);
}

void evaluate_plan_field(const struct evaluation_plan *plan, uint64_t key, const uint64_t *const *inputs,
                         uint64_t *const *outputs, struct arena *scratch)
{
    evaluate(plan, key, inputs, outputs, scratch);
}

// --- single entries --------------------------------------------------------------------------------------------------

#define MAX_ENTRY_VARIABLES 1024

struct entry_evaluation {
    const struct definition *d;
    uint64_t key;
    entry_of_input *read;
    void *context;
    int64_t *variables;
};

static uint64_t entry_scalar(struct entry_evaluation *ev, expr e);

static int64_t entry_index(struct entry_evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        return n->value;
    case EXPR_VARIABLE:
        return ev->variables[n->value];
    case EXPR_INDEX_ADD:
        return entry_index(ev, n->a) + entry_index(ev, n->b);
    case EXPR_INDEX_MUL:
        return entry_index(ev, n->a) * n->value;
    case EXPR_INDEX_DIV: {
        int64_t a = entry_index(ev, n->a);
        return a >= 0 ? a / n->value : -((-a + n->value - 1) / n->value);
    }
    case EXPR_INDEX_MOD: {
        int64_t rest = entry_index(ev, n->a) % n->value;
        return rest < 0 ? rest + n->value : rest;
    }
    default:
        return to_int(entry_scalar(ev, n->a));
    }
}

static uint64_t entry_of_stage(struct entry_evaluation *ev, int stage, const int64_t *index)
{
    const struct stage *s = &ev->d->stages[stage];
    for (int i = 0; i < s->type.rank; i++)
        ev->variables[s->first_variable + (uint32_t)i] = index[i];
    return entry_scalar(ev, s->body);
}

static uint64_t entry_read(struct entry_evaluation *ev, const struct expr_node *n)
{
    const struct definition *d = ev->d;
    int tensor = (int)n->value;
    const struct type *t = definition_tensor(d, tensor);
    int64_t index[MAX_RANK] = {0};
    for (int i = 0; i < n->count; i++) {
        index[i] = entry_index(ev, d->indices.items[n->a + (expr)i]);
        if (index[i] < 0 || index[i] >= t->dim[i])
            return n->b == OUTSIDE_LOWEST ? lowest(ev->key) : 0;
    }
    return tensor < d->n_inputs ? ev->read(ev->context, tensor, index)
                                : entry_of_stage(ev, tensor - d->n_inputs, index);
}

static uint64_t entry_reduce(struct entry_evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    uint64_t result = fn == FN_ADD ? 0 : fn == FN_MUL ? 1 : fn == FN_MAX ? lowest(ev->key) : highest(ev->key);
    for (int64_t i = 0; i < ev->d->extents.items[n->value]; i++) {
        ev->variables[n->value] = i;
        result = apply(ev->key, fn, result, entry_scalar(ev, n->a), 0);
    }
    return result;
}

static uint64_t entry_apply(struct entry_evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    uint64_t a = entry_scalar(ev, n->a);
    uint64_t b = arity > 1 ? entry_scalar(ev, n->b) : 0;
    return apply(ev->key, fn, a, b, arity > 2 ? entry_scalar(ev, n->c) : 0);
}

static uint64_t entry_scalar(struct entry_evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return from_real(n->real);
    case EXPR_READ:
        return entry_read(ev, n);
    case EXPR_APPLY:
        return entry_apply(ev, n);
    case EXPR_REDUCE:
        return entry_reduce(ev, n);
    case EXPR_SELECT:
        return entry_scalar(ev, entry_index(ev, n->a) >= 0 ? n->b : n->c);
    default:
        return from_int(entry_index(ev, n->a));
    }
}

uint64_t evaluate_field_entry(const struct definition *d, uint64_t key, int output, const int64_t *index,
                              entry_of_input *read, void *context)
{
    int64_t variables[MAX_ENTRY_VARIABLES];
    struct entry_evaluation ev = {d, key, read, context, variables};
    assert(d->extents.count <= MAX_ENTRY_VARIABLES);
    return entry_of_stage(&ev, d->outputs[output], index);
}

static double cost_of_scalar(const struct definition *d, expr e, const double *input_costs)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        if (n->value < d->n_inputs)
            return 1 + input_costs[n->value];
        return 1 + cost_of_scalar(d, d->stages[n->value - d->n_inputs].body, input_costs);
    case EXPR_APPLY: {
        double cost = 1 + cost_of_scalar(d, n->a, input_costs);
        if (function_arity((enum scalar_function)n->fn) > 1)
            cost += cost_of_scalar(d, n->b, input_costs);
        if (function_arity((enum scalar_function)n->fn) > 2)
            cost += cost_of_scalar(d, n->c, input_costs);
        return cost;
    }
    case EXPR_REDUCE:
        return 1 + (double)d->extents.items[n->value] * cost_of_scalar(d, n->a, input_costs);
    case EXPR_SELECT: {
        double first = cost_of_scalar(d, n->b, input_costs), second = cost_of_scalar(d, n->c, input_costs);
        return 1 + (first > second ? first : second);
    }
    default:
        return 1;
    }
}

double definition_entry_cost(const struct definition *d, int output, const double *input_costs)
{
    return cost_of_scalar(d, d->stages[d->outputs[output]].body, input_costs);
}
