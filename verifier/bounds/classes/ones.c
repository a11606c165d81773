// Axes that have one entry in every instance, because the text of the equation says so: kernels that are named with a
// size of 1, and what operators that take equal sizes tie to them (T10; bounds.md, 2.3).
#include "operators/traits.h"
#include "verifier/bounds/classes/index_classes.h"
#include "verifier/instances/size_ranges.h"

// On which axes what the node reads and makes has the same sizes.
static uint32_t axes_kept(const struct analysis *an, uint32_t node)
{
    const struct typed_call *call = an->in->calls[node];
    const uint32_t all = (1u << MAX_RANK) - 1;
    if (operator_works_entry_by_entry(call->op))
        return all;
    int axis = operator_find_role(call->op, ROLE_AXIS);
    bool cuts = operator_splits(call->op) || operator_joins(call->op);
    return cuts && axis >= 0 ? all & ~(1u << call->attributes[axis].ints[0]) : 0;
}

static uint32_t ones_of_shape(const struct pattern_node *node)
{
    const struct attribute_pattern *shape = pattern_node_attribute(node, ROLE_SHAPE);
    uint32_t axes = 0;
    for (uint32_t i = 0; !node->n_inputs && i < shape->count; i++) {
        const struct attribute_term *t = shape->terms[i];
        if (!attribute_term_is_one_entry(t))
            return 0;   // how many entries the term has is not seen
        axes |= attribute_term_is_number(t, 1) ? 1u << i : 0;
    }
    return axes;
}

static uint32_t ones_by_conditions(const struct equation *eq, uint32_t variable)
{
    uint32_t axes = 0;
    for (int axis = 0; axis < MAX_RANK; axis++)
        axes |= equation_size_by_condition(eq, variable, axis) == 1 ? 1u << axis : 0;
    return axes;
}

// What one term of a node knows, all others know. True when something was new.
static bool spread_ones(const struct analysis *an, uint32_t node, struct axes_of_one *ones)
{
    const struct pattern *p = an->in->equation->pattern;
    uint32_t kept = axes_kept(an, node), known = 0;
    bool is_new = false;
    for (term_id t = 0; t < ones->n_terms; t++)
        if (!p->terms.items[t].is_variable && p->terms.items[t].index == node)
            known |= ones->axes[t] & kept;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        known |= ones->axes[p->nodes.items[node].inputs[i]] & kept;
    for (term_id t = 0; t < ones->n_terms; t++) {
        bool is_of_node = !p->terms.items[t].is_variable && p->terms.items[t].index == node;
        for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
            is_of_node = is_of_node || p->nodes.items[node].inputs[i] == t;
        is_new = is_new || (is_of_node && (known & ~ones->axes[t]));
        ones->axes[t] |= is_of_node ? known : 0;
    }
    return is_new;
}

void classes_find_axes_of_one(const struct analysis *an, struct axes_of_one *ret_ones)
{
    const struct equation *eq = an->in->equation;
    const struct pattern *p = eq->pattern;
    *ret_ones = (struct axes_of_one){.n_terms = p->terms.count < MAX_ONES ? p->terms.count : MAX_ONES};
    for (term_id t = 0; t < ret_ones->n_terms; t++) {
        const struct term *term = &p->terms.items[t];
        ret_ones->axes[t] =
            term->is_variable ? ones_by_conditions(eq, term->index) : ones_of_shape(&p->nodes.items[term->index]);
    }
    for (bool is_changing = p->terms.count <= MAX_ONES; is_changing;) {
        is_changing = false;
        for (uint32_t n = 0; n < p->nodes.count; n++)
            is_changing = (an->in->calls[n] && spread_ones(an, n, ret_ones)) || is_changing;
    }
}

// The entries of a shape that attributes alone decide, as `$k` of `(list (dim ?x 1) 1 $k)`. Returns how many the term
// has, or too many for any shape where that is not seen.
static uint32_t find_entries_of_attributes(const struct analysis *an, const struct attribute_term *t, uint32_t first,
                                           uint32_t *ret_entries)
{
    uint32_t n = 0;
    if (t->kind == TERM_LIST) {
        for (uint32_t i = 0; i < t->count; i++)
            n += find_entries_of_attributes(an, t->operands[i], first + n, ret_entries);
        return n;
    }
    n = t->kind == TERM_VARIABLE                         ? an->in->attributes[t->value].count
        : t->kind == TERM_INTEGER || t->kind == TERM_DIM ? 1
                                                         : MAX_RANK + 1;
    for (uint32_t i = 0; i < n && first + i < MAX_RANK && t->kind != TERM_DIM; i++)
        *ret_entries |= 1u << (first + i);
    return n;
}

// A constant with one entry there, in all instances of these attributes.
static bool is_constant_of_one(const struct analysis *an, term_id term, int axis)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &an->in->equation->pattern->nodes.items[t->index];
    int shape = node && node->n_inputs == 0 ? operator_find_role(node->op, ROLE_SHAPE) : -1;
    uint32_t entries = 0, n = 0;
    if (shape < 0)
        return false;
    for (uint32_t i = 0; i < node->attributes[shape].count; i++)
        n += find_entries_of_attributes(an, node->attributes[shape].terms[i], n, &entries);
    const struct attribute_value *value = &an->in->calls[t->index]->attributes[shape];
    return n == value->count && (entries >> axis & 1) && value->ints[axis] == 1;
}

bool classes_have_kernel_of_one(const struct analysis *an, uint32_t node, int axis)
{
    struct axes_of_one ones;
    term_id kernel = an->in->equation->pattern->nodes.items[node].inputs[1];
    classes_find_axes_of_one(an, &ones);
    return (kernel < ones.n_terms && (ones.axes[kernel] >> axis & 1)) || is_constant_of_one(an, kernel, axis);
}
