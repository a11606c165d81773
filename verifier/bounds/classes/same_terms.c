// Attribute terms are compared as text, where sizes of one class and what conditions say equal are the same (T10;
// bounds.md, 2.3).
#include "verifier/bounds/classes/same_terms.h"

#include "operators/traits.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/bounds/text/same_sizes.h"

// --- terms that are equal --------------------------------------------------------------------------------------------

// Does the condition leave the variable one value for each length?
static bool is_of_one_value(const struct condition *c, int64_t variable)
{
    const struct attribute_term *t = c->a;
    if (c->kind != CONDITION_EQUAL || c->b->kind != TERM_INTEGER)
        return false;
    if (condition_is_of_equal_entries(c))
        t = t->operands[0];
    return t->kind == TERM_VARIABLE && t->value == variable;
}

static bool has_one_value(const struct equation *eq, int64_t variable)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (is_of_one_value(&eq->conditions[i], variable))
            return true;
    return false;
}

// Made of numbers alone.
static bool is_number(const struct equation *eq, const struct attribute_term *t)
{
    bool is_of_numbers = t->kind == TERM_VARIABLE ? has_one_value(eq, t->value) : !attribute_term_mentions_sizes(t);
    for (uint32_t i = 0; i < t->count; i++)
        is_of_numbers = is_of_numbers && is_number(eq, t->operands[i]);
    return is_of_numbers;
}

static bool are_made_of_numbers(const struct equation *eq, struct term_list list)
{
    for (uint32_t i = 0; i < list.n; i++)
        if (!is_number(eq, list.terms[i]))
            return false;
    return true;
}

static bool are_sizes_of_one_class(struct analysis *an, const struct attribute_term *x, const struct attribute_term *y)
{
    const struct attribute_term *a = x->operands[0], *b = y->operands[0];
    if (x->kind != TERM_DIM || a->kind != TERM_INTEGER || b->kind != TERM_INTEGER)
        return false;
    return classes_find(an, (uint32_t)(x->value * MAX_RANK + a->value)) ==
           classes_find(an, (uint32_t)(y->value * MAX_RANK + b->value));
}

static bool are_equal(struct analysis *an, const struct attribute_term *x, const struct attribute_term *y)
{
    if (attribute_term_equal(x, y) || are_equal_by_condition(an->in->equation, x, y))
        return true;
    if (x->kind != y->kind || x->count != y->count || x->count == 0)
        return false;
    if (are_sizes_of_one_class(an, x, y))
        return true;
    bool are_equal_by_operands = x->value == y->value;
    for (uint32_t i = 0; are_equal_by_operands && i < x->count; i++)
        are_equal_by_operands = are_equal(an, x->operands[i], y->operands[i]);
    return are_equal_by_operands;
}

bool terms_are_alike(struct analysis *an, struct term_list x, struct term_list y)
{
    if (are_made_of_numbers(an->in->equation, x) && are_made_of_numbers(an->in->equation, y))
        return true;
    for (uint32_t i = 0; x.n == y.n && i < x.n; i++)
        if (!are_equal(an, x.terms[i], y.terms[i]))
            return false;
    return x.n == y.n;
}

static bool find_attribute(const struct equation *eq, uint32_t node, enum attribute_role role,
                           struct term_list *ret_list)
{
    const struct pattern_node *n = &eq->pattern->nodes.items[node];
    int attribute = operator_find_role(n->op, role);
    if (attribute >= 0)
        *ret_list = (struct term_list){n->attributes[attribute].count, n->attributes[attribute].terms};
    return attribute >= 0;
}

bool attributes_are_alike(struct analysis *an, uint32_t x, uint32_t y, enum attribute_role role)
{
    struct term_list a, b;
    bool has_a = find_attribute(an->in->equation, x, role, &a), has_b = find_attribute(an->in->equation, y, role, &b);
    return has_a == has_b && (!has_a || terms_are_alike(an, a, b));
}

// --- strides from the output to a variable ---------------------------------------------------------------------------

#define MOST_WAYS 64   // to one variable; more are not looked at
// The nodes on the way whose strides are no numbers.
struct way {
    uint32_t n;
    uint8_t nodes[MAX_RULE_NODES];
};
struct ways {
    const struct equation *eq;
    uint32_t variable, n;
    struct way found[MOST_WAYS];
    bool has_too_many;
};

static void find_ways(struct ways *ways, term_id term, struct way way)
{
    const struct pattern *p = ways->eq->pattern;
    const struct term *t = &p->terms.items[term];
    if (ways->has_too_many)
        return;
    if (t->is_variable && t->index == ways->variable) {
        ways->has_too_many = ways->n == MOST_WAYS;
        if (!ways->has_too_many)
            ways->found[ways->n++] = way;
    }
    if (t->is_variable)
        return;
    const struct pattern_node *node = &p->nodes.items[t->index];
    struct term_list stride;
    if (find_attribute(ways->eq, t->index, ROLE_STRIDE, &stride) && !are_made_of_numbers(ways->eq, stride))
        way.nodes[way.n++] = (uint8_t)t->index;
    // Which places of its kernel a convolution reads is the same wherever it is.
    for (uint32_t i = 0; i < node->n_inputs; i++)
        find_ways(ways, node->inputs[i], operator_convolves(node->op) && i == 1 ? (struct way){0} : way);
}

static bool are_alike(struct analysis *an, const struct way *x, const struct way *y)
{
    bool is_alike = x->n == y->n;
    for (uint32_t i = 0; is_alike && i < x->n; i++)
        is_alike = attributes_are_alike(an, x->nodes[i], y->nodes[i], ROLE_STRIDE);
    return is_alike;
}

bool variable_is_read_alike(struct analysis *an, uint32_t variable)
{
    const struct equation *eq = an->in->equation;
    struct ways ways = {.eq = eq, .variable = variable};
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        find_ways(&ways, eq->left[i], (struct way){0});
        find_ways(&ways, eq->right[i], (struct way){0});
    }
    for (uint32_t i = 1; i < ways.n; i++)
        if (!are_alike(an, &ways.found[0], &ways.found[i]))
            return false;
    return !ways.has_too_many;
}
