// Coefficients of a side that may be no product, by how often the sides read a variable, and by zeros beside images
// (bounds.md, 2.1 and 2.3).
#include "verifier/bounds/text/axis_products.h"

#include "operators/traits.h"
#include "operators/window.h"

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
        has_pads = has_pads || !attribute_term_is_number(pads->terms[j], 0);
    return has_pads || operator_enlarges(n->op) || operator_has_role(n->op, ROLE_PADS);
}

static bool adds(const struct pattern_node *n)
{
    return operator_adds(n->op);
}

static bool may_activate(const struct pattern_node *n)
{
    const struct attribute_pattern *act = pattern_node_attribute(n, ROLE_ACTIVATION);
    return act->count && !attribute_term_is_number(act->terms[0], 0);
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
