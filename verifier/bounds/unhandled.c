// What the text of an equation says of its conditions, and of how often its sides read a variable (bounds.md, 2.1 and
// 2.3).
#include "verifier/bounds/unhandled.h"

#include "operators/traits.h"
#include "verifier/bounds/shape_constraints.h"
#include "verifier/instances/size_ranges.h"

bool attribute_term_mentions_sizes(const struct attribute_term *t)
{
    bool mentions = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    for (uint32_t i = 0; i < t->count && !mentions; i++)
        mentions = attribute_term_mentions_sizes(t->operands[i]);
    return mentions;
}

static bool is_integer(const struct attribute_term *t, int64_t value)
{
    return t->kind == TERM_INTEGER && t->value == value;
}

// Channels of images or kernels, or sums of them, which concatenations have.
static bool is_sum_of_channels(const struct attribute_term *t)
{
    if (t->kind == TERM_ADD)
        return is_sum_of_channels(t->operands[0]) && is_sum_of_channels(t->operands[1]);
    return t->kind == TERM_DIM && is_integer(t->operands[0], 1);
}

bool attribute_is_number_of_groups(const struct pattern_node *node, int attribute, const struct attribute_term *t)
{
    return operator_convolves(node->op) && attribute == operator_find_role(node->op, ROLE_GROUPS) &&
           t->kind == TERM_DIV && is_sum_of_channels(t->operands[0]) && is_sum_of_channels(t->operands[1]);
}

// --- conditions ------------------------------------------------------------------------------------------------------

// (= (product ...) 1), which says that all are 1.
static bool is_product_of_ones(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_PRODUCT && is_integer(c->b, 1) &&
           (c->a->operands[0]->kind == TERM_VARIABLE || c->a->operands[0]->kind == TERM_DIMS);
}

// (= (sum ...) 0), of what is not negative.
static bool is_sum_of_zeros(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_SUM && c->a->operands[0]->kind == TERM_VARIABLE &&
           is_integer(c->b, 0);
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

// --- reads -----------------------------------------------------------------------------------------------------------

static bool term_reads_twice(const struct pattern *p, term_id term, uint8_t reads[][MAX_RULE_VARIABLES])
{
    const struct term *t = &p->terms.items[term];
    for (uint32_t v = 0; !t->is_variable && v < p->n_variables; v++)
        if (reads[t->index][v] > 1)
            return true;
    return false;
}

static void count_reads(const struct pattern *p, uint8_t reads[][MAX_RULE_VARIABLES])
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            for (uint32_t v = 0; v < p->n_variables; v++) {
                int more = t->is_variable ? t->index == v : reads[t->index][v];
                reads[n][v] = (uint8_t)(reads[n][v] + more > 2 ? 2 : reads[n][v] + more);
            }
        }
}

// Are numbers computed of constants alone? They may be 0 at some sizes and not at others.
static bool computes_with_constants(const struct pattern *p)
{
    bool has_variables[MAX_RULE_NODES] = {false};
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            has_variables[n] = has_variables[n] || t->is_variable || has_variables[t->index];
        }
        if (!has_variables[n] && !operator_adds_nothing(p->nodes.items[n].op))
            return true;
    }
    return false;
}

// What is asked of a node and of all that it is made of.
static bool is_met_below(const struct pattern *p, uint32_t node, bool (*asks)(const struct pattern_node *n))
{
    node_set below = 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        below |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((below >> n & 1) && asks(&p->nodes.items[n]))
            return true;
    return false;
}

static bool may_be_zero_beside_images(const struct pattern_node *n)
{
    const struct attribute_pattern *pads = pattern_node_attribute(n, ROLE_WINDOW_PADS);
    bool has_pads = false;
    for (uint32_t j = 0; operator_convolves(n->op) && j < pads->count; j++)
        has_pads = has_pads || !is_integer(pads->terms[j], 0);
    return has_pads || operator_enlarges(n->op) || operator_has_role(n->op, ROLE_PADS);
}

static bool adds(const struct pattern_node *n)
{
    return operator_adds(n->op);
}

static bool may_activate(const struct pattern_node *n)
{
    const struct attribute_pattern *act = pattern_node_attribute(n, ROLE_ACTIVATION);
    return act->count && !is_integer(act->terms[0], 0);
}

static bool is_linear(const struct pattern_node *n)
{
    return operator_has(n->op, TRAIT_POLYNOMIAL) && !may_activate(n);
}

// A function of 0 that is 0: what it is of may be 0 where either axis is beside the image, but not be something else
// there.
static bool keeps_zeros(const struct pattern *p, uint32_t node)
{
    const struct pattern_node *n = &p->nodes.items[node];
    bool is_function =
        operator_has(n->op, TRAIT_POLYNOMIAL) || (operator_works_entry_by_entry(n->op) && n->n_inputs == 1);
    bool has_zero = is_function && (operator_traits[n->op->id].activated & TRAIT_KEEPS_ZERO);
    return has_zero && !adds(n) && !is_met_below(p, node, adds);
}

// Does something go along axes, whatever it is?
static bool is_read_along_axes(const struct pattern *p, uint32_t node)
{
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        node_set below = 0;
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++)
            below |= equation_nodes_of_term(p, p->nodes.items[n].inputs[i]);
        if ((below >> node & 1) && !operator_works_entry_by_entry(p->nodes.items[n].op))
            return true;
    }
    return false;
}

// Is 0, which is read where either axis is beside the image, one of several of which there is a maximum, or what a
// function makes something else of? That is no product of what each axis contributes.
static bool has_zeros_among_others(const struct pattern *p)
{
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        if (is_linear(node) || !is_met_below(p, n, may_be_zero_beside_images) || keeps_zeros(p, n))
            continue;
        if (!operator_works_entry_by_entry(node->op) || is_read_along_axes(p, n))
            return true;
    }
    return false;
}

static bool is_beyond(const struct attribute_term *t, int64_t number)
{
    return t->kind == TERM_INTEGER && t->value > number;
}

static bool has_entries_beyond(const struct attribute_pattern *a, int64_t number)
{
    bool are_beyond = false;
    for (uint32_t i = 0; i < a->count; i++)
        are_beyond = are_beyond || is_beyond(a->terms[i], number);
    return are_beyond;
}

// Are the pads of a convolution longer than half of a kernel of these sizes? Its middle may not be in the image then.
static bool has_pads_beyond_half(const struct pattern *p, const struct attribute_term *const *sizes, uint32_t n_sizes)
{
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *pads = pattern_node_attribute(&p->nodes.items[n], ROLE_WINDOW_PADS);
        for (uint32_t i = 0; operator_convolves(p->nodes.items[n].op) && i < pads->count; i++) {
            const struct attribute_term *size = n_sizes ? sizes[i % n_sizes] : NULL;
            if (is_beyond(pads->terms[i], size && size->kind == TERM_INTEGER ? (size->value - 1) / 2 : 0))
                return true;
        }
    }
    return false;
}

// Does the node put zeros around entries, and may pads keep these beside the image?
static bool has_entries_beside_images(const struct pattern *p, const struct pattern_node *n)
{
    const struct attribute_pattern *shape = pattern_node_attribute(n, ROLE_SHAPE);
    const struct attribute_pattern *kernel = pattern_node_attribute(n, ROLE_KERNEL);
    if (operator_enlarges(n->op))
        return has_pads_beyond_half(p, kernel->terms, kernel->count);
    bool has_zeros = operator_has(n->op, TRAIT_IS_KERNEL) && !operator_has(n->op, TRAIT_UNIFORM);
    uint32_t before = shape->count < FIRST_SPATIAL ? shape->count : FIRST_SPATIAL;
    return has_zeros && has_pads_beyond_half(p, shape->terms + before, shape->count - before);
}

// Behind pads windows in steps, and kernels with zeros, may read nothing of a small image on an axis: what is equal
// there, as it is 0, says nothing of the other axis.
static bool may_read_nothing(const struct pattern *p)
{
    bool has_pads = false, has_steps = false, has_entries_beside = false;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        has_pads = has_pads || (operator_convolves(node->op) &&
                                has_entries_beyond(pattern_node_attribute(node, ROLE_WINDOW_PADS), 0));
        has_steps = has_steps || has_entries_beyond(pattern_node_attribute(node, ROLE_STRIDE), 1) ||
                    has_entries_beyond(pattern_node_attribute(node, ROLE_DILATION), 1);
        has_entries_beside = has_entries_beside || has_entries_beside_images(p, node);
    }
    return (has_pads && has_steps) || has_entries_beside;
}

bool equation_is_no_product(const struct equation *eq)
{
    uint8_t reads[MAX_RULE_NODES][MAX_RULE_VARIABLES] = {{0}};
    count_reads(eq->pattern, reads);
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        if (term_reads_twice(eq->pattern, eq->left[i], reads) || term_reads_twice(eq->pattern, eq->right[i], reads))
            return true;
    return computes_with_constants(eq->pattern) || has_zeros_among_others(eq->pattern) || may_read_nothing(eq->pattern);
}
