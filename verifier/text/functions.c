// Functions that are not defined everywhere: where nothing takes an entry away again, both sides are undefined at the
// same places.
#include "verifier/text/functions.h"

#include "operators/traits.h"

static bool has_positive_reals(const struct pattern_node *node)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        for (uint32_t j = 0; node->op->attributes[i].kind == ATTRIBUTE_REAL && j < node->attributes[i].count; j++)
            if (node->attributes[i].terms[j]->kind != TERM_INTEGER ||
                !(real_from_bits(node->attributes[i].terms[j]->value) > 0))
                return false;
    return true;
}

// Are all entries of the term above 0, whatever those of variables are?
static bool is_positive(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &p->nodes.items[t->index];
    if (!node || !has_positive_reals(node))
        return false;
    if (operator_has(node->op, TRAIT_POSITIVE))
        return true;
    bool is_kept = operator_has(node->op, TRAIT_KEEPS_POSITIVE) && node->n_inputs > 0;
    for (uint32_t i = 0; i < node->n_inputs && is_kept; i++)
        is_kept = is_positive(p, node->inputs[i]);
    return is_kept;
}

static bool is_partial(const struct pattern *p, const struct pattern_node *node)
{
    if (!has_positive_reals(node))
        return operator_has(node->op, TRAIT_DIVIDES);
    if (!operator_has(node->op, TRAIT_PARTIAL))
        return false;
    for (uint32_t i = 0; i < node->n_inputs && i < MOST_KNOWN_INPUTS; i++)
        if ((operator_traits[node->op->id].positive_inputs >> i & 1) && is_positive(p, node->inputs[i]))
            return false;
    return true;
}

static bool is_met(const struct pattern *p, unsigned traits)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        if (operator_has(p->nodes.items[n].op, traits))
            return true;
    return false;
}

// Constants with zeros, zeros around kernels, and those beside images, by which kernels are multiplied.
static bool has_zeros(const struct pattern_node *node)
{
    const struct attribute_pattern *pads = pattern_node_attribute(node, ROLE_WINDOW_PADS);
    bool has_pads = false;
    for (uint32_t j = 0; operator_convolves(node->op) && j < pads->count; j++)
        has_pads = has_pads || !attribute_term_is_number(pads->terms[j], 0);
    bool is_positive_constant = operator_has(node->op, TRAIT_UNIFORM) && has_positive_reals(node);
    return has_pads || (operator_is_constant(node->op) && !is_positive_constant) || operator_enlarges(node->op) ||
           operator_merges_groups(node->op);
}

// Sums of products, and the functions in question, of which nothing is known.
static bool keeps_all(const struct pattern *p, const struct pattern_node *node)
{
    const struct attribute_pattern *activation = pattern_node_attribute(node, ROLE_ACTIVATION);
    bool may_activate = activation->count && !attribute_term_is_number(activation->terms[0], 0);
    return is_partial(p, node) || (operator_has(node->op, TRAIT_POLYNOMIAL) && !may_activate && !has_zeros(node));
}

bool text_keeps_domains(const struct equation *eq)
{
    const struct pattern *p = eq->pattern;
    bool is_any_partial = false;
    bool are_all_kept = !(is_met(p, TRAIT_SUBTRACTS) && (is_met(p, TRAIT_ADDS) || is_met(p, TRAIT_SUMS)));
    for (size_t n = 0; n < p->nodes.count; n++) {
        is_any_partial = is_any_partial || is_partial(p, &p->nodes.items[n]);
        are_all_kept = are_all_kept && keeps_all(p, &p->nodes.items[n]);
    }
    return !is_any_partial || are_all_kept;
}

// --- properties ------------------------------------------------------------------------------------------------------

// The one partial operator that entries pass, and which input of it reads each variable.
struct passing {
    const struct pattern *p;
    bool is_kept;
    const struct operator* function;       // NULL: none was met
    uint32_t inputs[MAX_RULE_VARIABLES];   // NOT_PASSED: not met, or above it
};
#define NOT_PASSED UINT32_MAX

static bool is_partial_anywhere(const struct pattern_node *node)
{
    return operator_has(node->op, TRAIT_PARTIAL) ||
           (operator_has(node->op, TRAIT_DIVIDES) && !has_positive_reals(node));
}

static void pass_variable(struct passing *s, uint32_t variable, uint32_t input)
{
    bool is_first = s->inputs[variable] == NOT_PASSED;
    s->is_kept = s->is_kept && input != NOT_PASSED && (is_first || s->inputs[variable] == input);
    s->inputs[variable] = input;
}

static bool may_pass(const struct passing *s, const struct pattern_node *node, bool is_function, uint32_t input)
{
    if (!is_function)
        return operator_moves_entries(node->op);
    return input == NOT_PASSED && operator_works_entry_by_entry(node->op) && operator_n_attributes(node->op) == 0 &&
           (!s->function || s->function == node->op);
}

static void pass_term(struct passing *s, term_id term, uint32_t input)
{
    const struct term *t = &s->p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &s->p->nodes.items[t->index];
    bool is_function = node && is_partial_anywhere(node);
    if (node)
        s->is_kept = s->is_kept && may_pass(s, node, is_function, input);
    else
        pass_variable(s, t->index, input);
    if (is_function)
        s->function = node->op;
    for (uint32_t i = 0; node && i < node->n_inputs && s->is_kept; i++)
        pass_term(s, node->inputs[i], is_function ? i : input);
}

static bool applies_partial_function(const struct pattern *p)
{
    bool applies = false;
    for (size_t n = 0; n < p->nodes.count; n++)
        applies = applies || is_partial_anywhere(&p->nodes.items[n]);
    return applies;
}

bool text_moves_partial_functions(const struct equation *eq)
{
    struct passing s = {.p = eq->pattern, .is_kept = true};
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        s.inputs[v] = NOT_PASSED;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        pass_term(&s, eq->left[i], NOT_PASSED);
        pass_term(&s, eq->right[i], NOT_PASSED);
    }
    return s.is_kept || !applies_partial_function(eq->pattern);
}
