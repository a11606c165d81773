// Numbers that depend on sizes (T8), numbers of groups (T9) and windows (T10): where a few small ones stand for all.
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"

#include "core/text/text.h"
#include "operators/traits.h"
#include "verifier/bounds/text/same_sizes.h"

// --- functions -------------------------------------------------------------------------------------------------------

// Sums of products, or entries that are moved.
static bool is_of_ring(const struct operator* op)
{
    return operator_has(op, TRAIT_POLYNOMIAL);
}

static bool may_activate(const struct pattern_node *node)
{
    const struct attribute_pattern *a = pattern_node_attribute(node, ROLE_ACTIVATION);
    return a->count == 1 && !attribute_term_is_number(a->terms[0], 0);
}

// Does it compare numbers: which of two is greater, whether one is above 0, or the opposite of another (T12)?
static bool compares(const struct pattern_node *node)
{
    return !operator_has(node->op, TRAIT_SMOOTH) || may_activate(node);
}

// --- numbers that depend on sizes (T8) -------------------------------------------------------------------------------

static node_set nodes_below(const struct pattern *p, uint32_t node)
{
    node_set below = 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        below |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    return below;
}

static bool reads_variables(const struct pattern *p, uint32_t node)
{
    node_set nodes = nodes_below(p, node) | (node_set)1 << node;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; (nodes >> n & 1) && i < p->nodes.items[n].n_inputs; i++)
            if (p->terms.items[p->nodes.items[n].inputs[i]].is_variable)
                return true;
    return false;
}

static bool subtracts(const struct operator* op)
{
    return operator_has(op, TRAIT_SUBTRACTS);
}

static bool sums(const struct operator* op)
{
    return operator_has(op, TRAIT_SUMS) || (!is_of_ring(op) && !(op->flags & OPERATOR_IS_ELEMENTWISE));
}

// A mean of a kernel whose sizes are written down is a number, and so is nothing else that sizes say.
static bool has_written_shape(const struct pattern_node *node)
{
    const struct attribute_pattern *shape = pattern_node_attribute(node, ROLE_SHAPE);
    for (uint32_t j = 2; j < shape->count; j++)
        if (!form_is_integer(shape->terms[j]))
            return false;
    return shape->count > 2;
}

static bool is_number_of_sizes(const struct pattern *p, uint32_t node)
{
    const struct pattern_node *n = &p->nodes.items[node];
    return operator_has(n->op, TRAIT_IS_OF_SIZES) ? !has_written_shape(n) : sums(n->op) && !reads_variables(p, node);
}

static bool is_met(const struct pattern *p, node_set nodes, bool (*asks)(const struct operator* op))
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((nodes >> n & 1) && asks(p->nodes.items[n].op))
            return true;
    return false;
}

static bool have_numbers_of_sizes(const struct pattern *p, node_set nodes)
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((nodes >> n & 1) && is_number_of_sizes(p, n))
            return true;
    return false;
}

// Are formulas of its own put at different places, so that along an axis there are several?
static bool tells_places(const struct operator* op)
{
    return operator_joins(op) || operator_has_windows(op) || operator_enlarges(op) || operator_merges_groups(op) ||
           (operator_is_constant(op) && !operator_has(op, TRAIT_UNIFORM));
}

static bool multiplies(const struct pattern_node *node)
{
    bool is_product_of_two =
        operator_works_entry_by_entry(node->op) && operator_adds_nothing(node->op) && node->n_inputs == 2;
    return operator_has(node->op, TRAIT_CONTRACTS) || is_product_of_two;
}

// Has some entry that the operator makes, or that a function of its own is applied to, a monomial without a variable? A
// product has none where a factor has none.
static bool may_be_of_numbers(const struct pattern *p, const struct pattern_node *node)
{
    bool is_product = multiplies(node), may_be = is_product || node->n_inputs == 0;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct term *t = &p->terms.items[node->inputs[i]];
        bool may_input_be = !t->is_variable && may_be_of_numbers(p, &p->nodes.items[t->index]);
        may_be = is_product ? may_be && may_input_be : may_be || may_input_be;
    }
    return may_be;
}

static bool depends_on_sizes(const struct operator* op)
{
    return sums(op) || operator_has(op, TRAIT_IS_OF_SIZES);
}

// One of several formulas, which is the same as another one at some sizes: n x is one of x, 2 x and 3 x up to n = 3.
static bool chooses_among_formulas(const struct pattern *p, uint32_t node)
{
    const struct operator* op = p->nodes.items[node].op;
    node_set below = nodes_below(p, node);
    bool has_several = op->flags & OPERATOR_IS_ELEMENTWISE
                           ? p->nodes.items[node].n_inputs > 1 && !operator_has(op, TRAIT_DIVIDES)
                           : is_met(p, below, tells_places);
    return !operator_has(op, TRAIT_SMOOTH) && has_several && is_met(p, below, depends_on_sizes);
}

static const char *doubt_about_numbers(const struct form_question *q, uint32_t node)
{
    const struct pattern *p = q->eq->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    node_set below = nodes_below(p, node) | (may_activate(n) ? (node_set)1 << node : 0);
    bool is_function = !is_of_ring(n->op) || may_activate(n);
    if (is_function && have_numbers_of_sizes(p, below))
        return "is of a number that depends on sizes";
    if (!q->bounds->has_numbers_of_sizes)
        return NULL;
    if (is_function && may_be_of_numbers(p, n))
        return "is of constants, and coefficients depend on sizes";
    if (compares(n) && is_met(p, below, subtracts))
        return "is of differences, and coefficients depend on sizes";
    return chooses_among_formulas(p, node) ? "is of several formulas, and coefficients depend on sizes" : NULL;
}

// A number made of sizes that is no variable's coefficient is compared with others at each size, and where it is one,
// differences change its sign, and multiples of a variable are one another at some sizes.
bool form_has_numbers(const struct form_question *q)
{
    for (uint32_t n = 0; n < q->eq->pattern->nodes.count; n++) {
        const char *doubt = doubt_about_numbers(q, n);
        if (doubt) {
            text_printf(q->why, "%s %s", q->eq->pattern->nodes.items[n].op->name, doubt);
            return false;
        }
    }
    return true;
}

// --- groups (T9) -----------------------------------------------------------------------------------------------------

static bool is_same_group(const struct same_sizes *same, const struct pattern_node *node, int group,
                          const struct attribute_term *variable)
{
    const struct attribute_pattern *a = &node->attributes[group];
    return a->count == 1 && terms_are_same(same, a->terms[0], variable);
}

// A convolution of the same tensors, whose channels say how many groups there are.
static bool is_group_by_typing(const struct same_sizes *same, const struct pattern_node *node, int group,
                               const struct attribute_term *variable)
{
    const struct pattern *p = same->eq->pattern;
    bool is_typed_alike = false;
    for (size_t n = 0; n < p->nodes.count && form_is_number_of_groups(p, node, group); n++) {
        const struct pattern_node *other = &p->nodes.items[n];
        is_typed_alike =
            is_typed_alike || (other->op == node->op && other->inputs[0] == node->inputs[0] &&
                               other->inputs[1] == node->inputs[1] && is_same_group(same, other, group, variable));
    }
    return is_typed_alike;
}

// A quotient of what is equal.
static bool is_one(const struct same_sizes *same, const struct attribute_term *t)
{
    return t->kind == TERM_DIV && (are_equal_by_condition(same->eq, t->operands[0], t->operands[1]) ||
                                   sums_are_same(same, t->operands[0], t->operands[1]));
}

static const struct attribute_term *group_variable(const struct same_sizes *same)
{
    const struct pattern *p = same->eq->pattern;
    for (size_t n = 0; n < p->nodes.count; n++) {
        int group = operator_find_role(p->nodes.items[n].op, ROLE_GROUPS);
        const struct attribute_pattern *a = group < 0 ? NULL : &p->nodes.items[n].attributes[group];
        for (uint32_t j = 0; a && j < a->count; j++)
            if (attribute_variables_of_term(a->terms[j]) ||
                (form_is_number_of_groups(p, &p->nodes.items[n], group) && !is_one(same, a->terms[j])))
                return a->terms[j];
    }
    return NULL;
}

// Sizes that are tied to one another may leave one group to all small instances, and others to larger ones.
static const struct attribute_term *groups_that_are_one(const struct form_question *q, const struct same_sizes *same)
{
    for (size_t n = 0; n < q->eq->pattern->nodes.count; n++) {
        const struct attribute_pattern *a = pattern_node_attribute(&q->eq->pattern->nodes.items[n], ROLE_GROUPS);
        bool is_open = a->count == 1 && !form_is_integer(a->terms[0]) && !is_one(same, a->terms[0]);
        if (is_open && !(q->bounds->of_several_groups >> n & 1))
            return a->terms[0];
    }
    return NULL;
}

// Groups that hold no label can be taken away where all operators have as many of them, and nothing else counts them.
bool form_has_groups(const struct form_question *q)
{
    const struct pattern *p = q->eq->pattern;
    struct same_sizes same = same_sizes_of(q->eq);
    const struct attribute_term *variable = group_variable(&same);
    bool is_alike =
        !variable || (!q->bounds->has_parts_of_groups && (form_is_variable(variable) || variable->kind == TERM_DIV));
    for (size_t n = 0; n < p->nodes.count && variable; n++) {
        int group = operator_find_role(p->nodes.items[n].op, ROLE_GROUPS);
        const struct pattern_node *node = &p->nodes.items[n];
        is_alike = is_alike &&
                   (group < 0 || (operator_convolves(node->op) && (is_same_group(&same, node, group, variable) ||
                                                                   is_group_by_typing(&same, node, group, variable))));
    }
    for (uint32_t i = 0; i < q->eq->n_conditions && variable; i++) {
        const struct condition *c = &q->eq->conditions[i];
        is_alike = is_alike && (condition_is_of_variable(c->kind) ||
                                !((attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b)) &
                                  attribute_variables_of_term(variable)));
    }
    const struct attribute_term *one = is_alike ? groups_that_are_one(q, &same) : NULL;
    if (!is_alike || one) {
        text_add(q->why, "the number of groups ");
        pattern_print_attribute_term(q->why, p, one ? one : variable);
        text_add(q->why, one ? " is 1 in all small instances" : " is a variable, and not that of all");
    }
    return is_alike && !one;
}

// --- windows (T10) ---------------------------------------------------------------------------------------------------

// Kernels that are enlarged to a variable size, and to another one elsewhere: sizes of kernels tie the two.
static const struct attribute_pattern *other_enlargement(const struct pattern *p)
{
    const struct attribute_pattern *first = NULL;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *a = pattern_node_attribute(&p->nodes.items[n], ROLE_KERNEL);
        bool is_same = first && first->count == a->count;
        if (!operator_enlarges(p->nodes.items[n].op))
            continue;
        for (uint32_t i = 0; is_same && i < a->count; i++)
            is_same = attribute_term_equal(first->terms[i], a->terms[i]);
        if (first && !is_same && (form_is_one_variable(first) || form_is_one_variable(a)))
            return form_is_one_variable(a) ? a : first;
        first = a;
    }
    return NULL;
}

bool form_has_windows(const struct form_question *q)
{
    const struct attribute_pattern *enlarged = other_enlargement(q->eq->pattern);
    if (enlarged) {
        text_add(q->why, "kernels are enlarged to ");
        pattern_print_attribute_term(q->why, q->eq->pattern, enlarged->terms[0]);
        text_add(q->why, ", and to another size");
        return false;
    }
    if (!q->bounds->has_unargued_windows)
        return true;
    text_add(q->why, "windows are neither alike nor of sizes that are written down");
    return false;
}
