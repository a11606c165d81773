// Rules and properties as equations, and what their text says of operators and sizes.
#include "instances/equation.h"

#include "substitutions/pattern.h"

struct equation equation_of_rule(const struct rule *r)
{
    return (struct equation){.name = r->name,
                             .pattern = &r->pattern,
                             .n_pairs = r->n_outputs,
                             .left = r->sources,
                             .right = r->targets,
                             .n_conditions = r->n_conditions,
                             .conditions = r->conditions};
}

struct equation equation_of_property(const struct property *p)
{
    return (struct equation){.name = p->name,
                             .pattern = &p->pattern,
                             .n_pairs = 1,
                             .left = &p->left,
                             .right = &p->right,
                             .n_conditions = p->n_conditions,
                             .conditions = p->conditions,
                             .n_guards = p->n_guards,
                             .guards = p->guards,
                             .plain = p->plain,
                             .is_strong = true};
}

node_set equation_nodes_of_term(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return 0;
    const struct pattern_node *n = &p->nodes.items[t->index];
    return ((node_set)1 << t->index) |
           UNION_ALL(node_set, uint32_t, i, n->n_inputs, equation_nodes_of_term(p, n->inputs[i]));
}

const struct attribute_pattern *pattern_node_attribute(const struct pattern_node *node, enum attribute_role role)
{
    static const struct attribute_pattern none = {0};
    int attribute = operator_find_role(node->op, role);
    return attribute < 0 ? &none : &node->attributes[attribute];
}

int node_attribute_of_variable(const struct pattern_node *node, uint32_t variable)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++) {
        const struct attribute_pattern *a = &node->attributes[i];
        if (a->count == 1 && a->terms[0]->kind == TERM_VARIABLE && a->terms[0]->value == variable)
            return i;
    }
    return -1;
}

const struct attribute *pattern_attribute_of_variable(const struct pattern *p, uint32_t variable)
{
    const struct pattern_node *node = vec_find(&p->nodes, n, node_attribute_of_variable(n, variable) >= 0);
    return node ? &node->op->attributes[node_attribute_of_variable(node, variable)] : NULL;
}

// (= (dim ?x axis) n)
static bool names_size(const struct condition *c, uint32_t variable, int axis)
{
    return c->a->kind == TERM_DIM && c->a->value == (int64_t)variable && c->a->operands[0]->kind == TERM_INTEGER &&
           c->a->operands[0]->value == axis;
}

// (= (drop first (dims ?x)) (repeat any n)), of an axis that is not dropped
static bool names_sizes_from(const struct condition *c, uint32_t variable, int axis)
{
    if (c->a->kind != TERM_DROP || c->b->kind != TERM_REPEAT)
        return false;
    const struct attribute_term *first = c->a->operands[0], *dims = c->a->operands[1];
    return first->kind == TERM_INTEGER && first->value <= axis && dims->kind == TERM_DIMS &&
           dims->value == (int64_t)variable;
}

int64_t equation_size_by_condition(const struct equation *eq, uint32_t variable, int axis)
{
    EACH(eq->conditions, eq->n_conditions, c) {
        if (c->kind != CONDITION_EQUAL)
            continue;
        const struct attribute_term *size = names_size(c, variable, axis)         ? c->b
                                            : names_sizes_from(c, variable, axis) ? c->b->operands[1]
                                                                                  : NULL;
        if (size && size->kind == TERM_INTEGER)
            return size->value;
    }
    return 0;
}

uint32_t equation_variables_of_term(const struct attribute_term *t)
{
    bool is_shape = t->kind == TERM_DIM || t->kind == TERM_DIMS || t->kind == TERM_RANK;
    return (is_shape ? 1u << t->value : 0) |
           UNION_ALL(uint32_t, uint32_t, i, t->count, equation_variables_of_term(t->operands[i]));
}

uint32_t equation_variables_of_condition(const struct condition *c)
{
    if (condition_is_of_variable(c->kind))
        return 1u << c->variable;
    return equation_variables_of_term(c->a) | equation_variables_of_term(c->b);
}

uint32_t equation_variables_of_attributes(const struct pattern_node *node)
{
    uint32_t variables = 0;
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        for (uint32_t j = 0; j < node->attributes[i].count; j++)
            variables |= equation_variables_of_term(node->attributes[i].terms[j]);
    return variables;
}

uint32_t equation_variables_of_node(const struct pattern *p, uint32_t node)
{
    const struct pattern_node *n = &p->nodes.items[node];
    uint32_t variables = equation_variables_of_attributes(n);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        variables |= t->is_variable ? 1u << t->index : equation_variables_of_node(p, t->index);
    }
    return variables;
}

uint32_t attribute_variables_of_term(const struct attribute_term *t)
{
    return (t->kind == TERM_VARIABLE ? 1u << t->value : 0) |
           UNION_ALL(uint32_t, uint32_t, i, t->count, attribute_variables_of_term(t->operands[i]));
}

uint32_t attribute_variables_of_node(const struct pattern_node *node)
{
    uint32_t variables = 0;
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        for (uint32_t j = 0; j < node->attributes[i].count; j++)
            variables |= attribute_variables_of_term(node->attributes[i].terms[j]);
    return variables;
}

static uint32_t axes_asked_for_in_term(const struct attribute_term *t, uint32_t variable)
{
    bool is_of_variable = (t->kind == TERM_DIM || t->kind == TERM_DIMS) && t->value == (int64_t)variable;
    bool is_one = t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER && t->operands[0]->value >= 0 &&
                  t->operands[0]->value < MAX_RANK;
    uint32_t axes = !is_of_variable ? 0 : is_one ? 1u << t->operands[0]->value : UINT32_MAX;
    for (uint32_t i = 0; i < t->count; i++)
        axes |= axes_asked_for_in_term(t->operands[i], variable);
    return axes;
}

uint32_t equation_axes_asked_for(const struct equation *eq, uint32_t variable)
{
    const struct pattern *p = eq->pattern;
    uint32_t axes = 0;
    for (term_id t = 0; t < p->terms.count; t++)
        for (uint32_t n = 0; p->terms.items[t].is_variable && p->terms.items[t].index == variable && n < eq->n_pairs;
             n++)
            axes |= eq->left[n] == t || eq->right[n] == t ? UINT32_MAX : 0;
    vec_each(&p->nodes, node) {
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            const struct term *t = &p->terms.items[node->inputs[i]];
            axes |= t->is_variable && t->index == variable ? UINT32_MAX : 0;
        }
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            for (uint32_t j = 0; j < node->attributes[i].count; j++)
                axes |= axes_asked_for_in_term(node->attributes[i].terms[j], variable);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind))
            axes |= axes_asked_for_in_term(eq->conditions[i].a, variable) |
                    axes_asked_for_in_term(eq->conditions[i].b, variable);
    return axes;
}

node_set equation_nodes(const struct equation *eq)
{
    return ((node_set)1 << eq->pattern->nodes.count) - 1;
}

static node_set nodes_of_terms(const struct equation *eq, uint32_t n, const term_id *terms)
{
    return UNION_ALL(node_set, uint32_t, i, n, equation_nodes_of_term(eq->pattern, terms[i]));
}

node_set equation_nodes_of_side(const struct equation *eq, const term_id *side)
{
    return nodes_of_terms(eq, eq->n_pairs, side);
}

node_set equation_nodes_of_pairs(const struct equation *eq)
{
    return equation_nodes_of_side(eq, eq->left) | equation_nodes_of_side(eq, eq->right);
}

node_set equation_required_nodes(const struct equation *eq, enum wanted_sides wanted)
{
    if (!eq->is_strong)
        return equation_nodes(eq);
    return (wanted & WANTED_LEFT ? equation_nodes_of_side(eq, eq->left) : 0) |
           (wanted & WANTED_RIGHT ? equation_nodes_of_side(eq, eq->right) : 0) |
           nodes_of_terms(eq, eq->n_guards, eq->guards);
}
