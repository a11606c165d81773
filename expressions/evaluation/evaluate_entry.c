// Expressions are walked as they stand, for one entry of an output.
#include "expressions/evaluation/evaluate_entry.h"

#include "core/numbers/integers.h"
#include "expressions/definition.h"
#include "expressions/field_functions.h"
#include <assert.h>
#include <string.h>

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
    case EXPR_INDEX_DIV:
        return floor_quotient(entry_index(ev, n->a), n->value);
    case EXPR_INDEX_MOD:
        return floor_remainder(entry_index(ev, n->a), n->value);
    default:
        return to_int(entry_scalar(ev, n->a));
    }
}

// Whoever reads the stage may have the same variables.
static uint64_t entry_of_stage(struct entry_evaluation *ev, int stage, const int64_t *index)
{
    const struct stage *s = &ev->d->stages[stage];
    size_t size = (size_t)s->type.rank * sizeof *index;
    int64_t *variables = ev->variables + s->first_variable, around[MAX_RANK];
    memcpy(around, variables, size);
    memcpy(variables, index, size);
    uint64_t value = entry_scalar(ev, s->body);
    memcpy(variables, around, size);
    return value;
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
            return n->b == OUTSIDE_LOWEST ? lowest(ev->key) : from_int(0);
    }
    return tensor < d->n_inputs ? ev->read(ev->context, tensor, index)
                                : entry_of_stage(ev, tensor - d->n_inputs, index);
}

static uint64_t entry_reduce(struct entry_evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    uint64_t result = fn == FN_ADD   ? from_int(0)
                      : fn == FN_MUL ? from_int(1)
                      : fn == FN_MAX ? lowest(ev->key)
                                     : highest(ev->key);
    int64_t around = ev->variables[n->value];
    for (int64_t i = 0; i < ev->d->extents.items[n->value]; i++) {
        ev->variables[n->value] = i;
        result = apply(ev->key, fn, entry_scalar(ev, n->a), result, from_int(0));
    }
    ev->variables[n->value] = around;
    return result;
}

static uint64_t entry_apply(struct entry_evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    uint64_t a = entry_scalar(ev, n->a);
    uint64_t b = arity > 1 ? entry_scalar(ev, n->b) : from_int(0);
    return apply(ev->key, fn, a, b, arity > 2 ? entry_scalar(ev, n->c) : from_int(0));
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
    memset(variables, 0, d->extents.count * sizeof *variables);
    return entry_of_stage(&ev, d->outputs[output], index);
}

// --- costs -----------------------------------------------------------------------------------------------------------

static double cost_of_scalar(const struct definition *d, expr e, const double *input_costs)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        if (n->value < d->n_inputs)
            return 1 + input_costs[n->value];
        return 1 + cost_of_scalar(d, d->stages[n->value - d->n_inputs].body, input_costs);
    case EXPR_APPLY: {
        return 1 + SUM_ALL(double, int, i, function_arity((enum scalar_function)n->fn),
                           cost_of_scalar(d, n->operands[i], input_costs));
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
