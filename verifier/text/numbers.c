// Each operator by itself: one that takes or gives other numbers than floating-point ones, or may be outside of the
// domain of a function, is not looked into.
#include "verifier/text/numbers.h"

#include "operators/traits.h"
#include <math.h>

// --- element types ---------------------------------------------------------------------------------------------------

static bool says_other_type(const struct pattern_node *node)
{
    const struct attribute_pattern *a = node->attributes;
    return ANY(int, i, operator_n_attributes(node->op),
               node->op->attributes[i].kind == ATTRIBUTE_DTYPE &&
                   ANY(uint32_t, j, a[i].count,
                       node->n_inputs || a[i].terms[j]->kind != TERM_INTEGER ||
                           !dtype_is_float((enum dtype)a[i].terms[j]->value)));
}

// Are the entries that it gives floating-point numbers of the type of those that it takes?
static bool keeps_floats(const struct pattern_node *node)
{
    const struct operator_traits *traits = &operator_traits[node->op->id];
    return !traits->inputs_of_other_types && !says_other_type(node) &&
           (traits->output_type == DTYPE_NONE || dtype_is_float((enum dtype)traits->output_type)) &&
           ALL(uint32_t, i, node->n_inputs, operator_input_may_be_float(node->op, i));
}

static uint32_t variables_read(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &p->nodes.items[t->index];
    uint32_t variables = t->is_variable ? 1u << t->index : 0;
    for (uint32_t i = 0; node && i < node->n_inputs; i++)
        variables |= variables_read(p, node->inputs[i]);
    return variables;
}

bool text_has_element_types(const struct equation *eq)
{
    return ALL(uint32_t, i, eq->n_pairs,
               variables_read(eq->pattern, eq->left[i]) & variables_read(eq->pattern, eq->right[i])) &&
           text_is_of_real_numbers(eq);
}

// --- real numbers ----------------------------------------------------------------------------------------------------

// The standard value, where a clip has no end, may be none.
static bool names_infinity(const struct attribute *attribute, const struct attribute_pattern *a)
{
    for (uint32_t j = 0; attribute->kind == ATTRIBUTE_REAL && j < a->count; j++) {
        double real = a->terms[j]->kind == TERM_INTEGER ? real_from_bits(a->terms[j]->value) : 0;
        if (!isfinite(real) && real != attribute->standard_real)
            return true;
    }
    return false;
}

bool text_is_of_real_numbers(const struct equation *eq)
{
    return !FIND(eq->conditions, eq->n_conditions, c, c->kind == CONDITION_DTYPE && !dtype_is_float(c->dtype)) &&
           !vec_find(&eq->pattern->nodes, node,
                     operator_has(node->op, TRAIT_ASKS_NUMBER) || !keeps_floats(node) ||
                         ANY(int, i, operator_n_attributes(node->op),
                             names_infinity(&node->op->attributes[i], &node->attributes[i])));
}

// --- domains ---------------------------------------------------------------------------------------------------------

static bool has_positive_reals(const struct pattern_node *node)
{
    const struct attribute_pattern *a = node->attributes;
    return ALL(int, i, operator_n_attributes(node->op),
               node->op->attributes[i].kind != ATTRIBUTE_REAL ||
                   ALL(uint32_t, j, a[i].count,
                       a[i].terms[j]->kind == TERM_INTEGER && real_from_bits(a[i].terms[j]->value) > 0));
}

bool text_is_defined_everywhere(const struct equation *eq)
{
    return !vec_find(&eq->pattern->nodes, node,
                     operator_has(node->op, TRAIT_PARTIAL) ||
                         (operator_has(node->op, TRAIT_DIVIDES) && !has_positive_reals(node)));
}
