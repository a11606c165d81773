// What conditions ask, and which attributes they speak of (bounds.md, 2.1 and 2.3).
#include "verifier/bounds/text/conditions.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/instances/size_ranges.h"

bool attribute_term_mentions_sizes(const struct attribute_term *t)
{
    bool mentions = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    for (uint32_t i = 0; i < t->count && !mentions; i++)
        mentions = attribute_term_mentions_sizes(t->operands[i]);
    return mentions;
}

// Is the term the size of the axis, of images or of kernels? Concatenations have sums of those that they join.
static bool is_size_of(const struct pattern *p, term_id tensor, int axis, const struct attribute_term *t)
{
    const struct term *term = &p->terms.items[tensor];
    if (term->is_variable)
        return t->kind == TERM_DIM && t->value == term->index && attribute_term_is_number(t->operands[0], axis);
    const struct pattern_node *node = &p->nodes.items[term->index];
    if (operator_convolves(node->op))
        return axis == 1 && is_size_of(p, node->inputs[1], 0, t);
    const struct attribute_term *joined =
        operator_joins(node->op) ? pattern_node_attribute(node, ROLE_AXIS)->terms[0] : NULL;
    if (joined && attribute_term_is_number(joined, axis))
        return t->kind == TERM_ADD && node->n_inputs == 2 && is_size_of(p, node->inputs[0], axis, t->operands[0]) &&
               is_size_of(p, node->inputs[1], axis, t->operands[1]);
    bool keeps = operator_pools(node->op) || operator_enlarges(node->op) || operator_works_entry_by_entry(node->op) ||
                 (joined && joined->kind == TERM_INTEGER);
    for (uint32_t i = 0; i < node->n_inputs && keeps; i++)
        if (is_size_of(p, node->inputs[i], axis, t))
            return true;
    return false;
}

bool attribute_is_number_of_groups(const struct pattern *p, const struct pattern_node *node, int attribute,
                                   const struct attribute_term *t)
{
    return operator_convolves(node->op) && attribute == operator_find_role(node->op, ROLE_GROUPS) &&
           t->kind == TERM_DIV && is_size_of(p, node->inputs[0], 1, t->operands[0]) &&
           is_size_of(p, node->inputs[1], 1, t->operands[1]);
}

// (= (product ...) 1), which says that all are 1.
static bool is_product_of_ones(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_PRODUCT && attribute_term_is_number(c->b, 1) &&
           (c->a->operands[0]->kind == TERM_VARIABLE || c->a->operands[0]->kind == TERM_DIMS);
}

// (= (sum ...) 0), of what is not negative.
static bool is_sum_of_zeros(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_SUM && c->a->operands[0]->kind == TERM_VARIABLE &&
           attribute_term_is_number(c->b, 0);
}

bool condition_is_of_equal_entries(const struct condition *c)
{
    return is_product_of_ones(c) || is_sum_of_zeros(c);
}

static bool has_only_numbers(const struct attribute_term *t)
{
    return !attribute_term_mentions_sizes(t) && attribute_variables_of_term(t) == 0;
}

// One size compared with a number, all entries of an attribute 1, or all 0: what is asked of one axis is asked of it
// whatever the others are.
static bool is_of_each_axis(const struct condition *c)
{
    bool is_of_size = c->a->kind == TERM_DIM && c->a->operands[0]->kind == TERM_INTEGER && has_only_numbers(c->b);
    return is_of_size || condition_is_of_equal_entries(c);
}

uint32_t pattern_variables_of_windows(const struct pattern *p)
{
    static const enum attribute_role roles[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_KERNEL};
    uint32_t variables = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
            variables |= attribute_variables_of_role(&p->nodes.items[n], roles[i]);
    return variables;
}

static uint32_t variables_of_condition(const struct condition *c)
{
    return condition_is_of_variable(c->kind) ? 0
                                             : attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b);
}

bool equation_has_conditions_on_windows(const struct equation *eq)
{
    uint32_t variables = 0;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        variables |= variables_of_condition(&eq->conditions[i]);
    return (variables & pattern_variables_of_windows(eq->pattern)) != 0;
}

bool equation_ties_axes(const struct equation *eq)
{
    uint32_t of_windows = pattern_variables_of_windows(eq->pattern);
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (condition_is_of_variable(c->kind) || is_of_each_axis(c))
            continue;
        if (attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b) ||
            (variables_of_condition(c) & of_windows))
            return true;
    }
    return false;
}
