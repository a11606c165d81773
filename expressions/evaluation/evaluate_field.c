// Evaluation modulo the prime p = 2^61 - 1, with the functions of field_functions.h.
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/evaluate_entry.h"

#include "expressions/definition.h"
#include "expressions/field_functions.h"

#define SCALAR uint64_t
#define DOMAIN uint64_t
#define LAZY_SUM field_wide
#define LAZY_PRODUCTS FIELD_LAZY_PRODUCTS
#define reduce_lazily field_reduce_wide

#include "expressions/evaluation/evaluate.inc"

void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch)
{
    evaluate_once(d, key, false, inputs, outputs, scratch);
}

void evaluate_plan_field(const struct evaluation_plan *plan, uint64_t key, const uint64_t *const *inputs,
                         uint64_t *const *outputs, struct arena *scratch)
{
    evaluate(plan, key, false, inputs, outputs, scratch);
}

// --- single entries --------------------------------------------------------------------------------------------------

#define ENTRY_OF_INPUT entry_of_input
#include "expressions/evaluation/evaluate_entry.inc"

uint64_t evaluate_field_entry(const struct definition *d, uint64_t key, int output, const int64_t *index,
                              entry_of_input *read, void *context)
{
    return evaluate_entry(d, key, output, index, read, context);
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
        double cost = 1;
        for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++)
            cost += cost_of_scalar(d, n->operands[i], input_costs);
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
