// Axes are joined by conditions and, in rules, whose terms are all well-typed, by the operators that say so: those that
// work entry by entry have inputs and a result of the same sizes, and `concat` but for the axis that it joins.
#include "verifier/text/same_sizes.h"

#include "core/memory/small_union_find.h"
#include "operators/traits.h"

#define NO_AXIS UINT16_MAX

// --- what is joined --------------------------------------------------------------------------------------------------

// (dim ?x axis)
static uint16_t axis_of_size(const struct attribute_term *t)
{
    bool is_written = t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER && t->operands[0]->value >= 0 &&
                      t->operands[0]->value < MAX_RANK;
    return is_written ? (uint16_t)(t->value * MAX_RANK + t->operands[0]->value) : NO_AXIS;
}

static void join_by_condition(struct same_sizes *s, const struct condition *c)
{
    if (c->kind == CONDITION_EQUAL && axis_of_size(c->a) != NO_AXIS && axis_of_size(c->b) != NO_AXIS)
        union_find_join(s->parents, axis_of_size(c->a), axis_of_size(c->b));
}

static void join_all_axes(struct same_sizes *s, uint32_t x, uint32_t y, int64_t but)
{
    for (uint32_t axis = 0; axis < MAX_RANK; axis++)
        if (axis != but)
            union_find_join(s->parents, x * MAX_RANK + axis, y * MAX_RANK + axis);
}

// The axis along which inputs may differ; -1: along none. False: the operator says nothing of sizes.
static bool keeps_sizes(const struct pattern_node *node, int64_t *ret_but)
{
    *ret_but = -1;
    if (!operator_joins(node->op))
        return node->op->flags & OPERATOR_IS_ELEMENTWISE;
    const struct attribute_term *axis = node->attributes[operator_find_role(node->op, ROLE_AXIS)].terms[0];
    *ret_but = axis->value;
    return axis->kind == TERM_INTEGER && axis->value >= 0;
}

// The results of operators with several of them are of no one size.
static void join_by_typing(struct same_sizes *s, uint32_t n)
{
    const struct pattern *p = s->eq->pattern;
    const struct pattern_node *node = &p->nodes.items[n];
    int64_t but;
    for (uint32_t i = 0; i < node->n_inputs && keeps_sizes(node, &but); i++) {
        const struct term *input = &p->terms.items[node->inputs[i]];
        if (input->is_variable)
            join_all_axes(s, input->index, MAX_RULE_VARIABLES + n, but);
        else if (input->output == 0 && keeps_sizes(&p->nodes.items[input->index], &(int64_t){0}))
            join_all_axes(s, MAX_RULE_VARIABLES + input->index, MAX_RULE_VARIABLES + n, but);
    }
}

struct same_sizes same_sizes_of(const struct equation *eq)
{
    struct same_sizes s = {.eq = eq};
    union_find_init(s.parents, sizeof s.parents / sizeof *s.parents);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        join_by_condition(&s, &eq->conditions[i]);
    for (uint32_t n = 0; n < eq->pattern->nodes.count && !eq->is_strong; n++)
        join_by_typing(&s, n);
    return s;
}

// --- what follows ----------------------------------------------------------------------------------------------------

bool terms_are_same(const struct same_sizes *s, const struct attribute_term *x, const struct attribute_term *y)
{
    uint16_t a = axis_of_size(x), b = axis_of_size(y);
    if (a != NO_AXIS && b != NO_AXIS)
        return union_find_root(s->parents, a) == union_find_root(s->parents, b);
    bool are_same = x->kind == y->kind && x->value == y->value && x->count == y->count;
    for (uint32_t i = 0; i < x->count && are_same; i++)
        are_same = terms_are_same(s, x->operands[i], y->operands[i]);
    return are_same;
}

bool attributes_are_same(const struct same_sizes *s, const struct pattern_node *x, const struct pattern_node *y)
{
    bool are_same = x->op == y->op;
    for (int i = 0; are_same && i < operator_n_attributes(x->op); i++) {
        are_same = x->attributes[i].count == y->attributes[i].count;
        for (uint32_t j = 0; are_same && j < x->attributes[i].count; j++)
            are_same = terms_are_same(s, x->attributes[i].terms[j], y->attributes[i].terms[j]);
    }
    return are_same;
}
