// Element types by text: both sides of an output have one, and nothing computes with integers.
#include "verifier/text/numbers.h"

#include "core/memory/small_union_find.h"
#include "operators/traits.h"
#include <math.h>

#define MAX_TERMS (MAX_RULE_VARIABLES + MAX_RULE_NODES * 4)
// Terms of one element type, which stand behind the types themselves.
struct same_types {
    const struct pattern *p;
    uint16_t parents[DTYPE_COUNT + MAX_TERMS];
};

static uint32_t item_of_term(term_id term)
{
    return DTYPE_COUNT + term;
}

// The type that an attribute says, or that the operator makes of inputs of any type; DTYPE_NONE: that of inputs.
static enum dtype type_that_is_made(const struct pattern_node *node)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++) {
        const struct attribute_pattern *a = &node->attributes[i];
        if (node->op->attributes[i].kind == ATTRIBUTE_DTYPE)
            return a->count == 1 && a->terms[0]->kind == TERM_INTEGER ? (enum dtype)a->terms[0]->value : DTYPE_NONE;
    }
    return operator_traits[node->op->id].output_type;
}

static void join_types_of_term(struct same_types *s, term_id term)
{
    const struct term *t = &s->p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &s->p->nodes.items[t->index];
    enum dtype made = node ? type_that_is_made(node) : DTYPE_NONE;
    if (made != DTYPE_NONE)
        union_find_join(s->parents, item_of_term(term), made);
    for (uint32_t i = 0; node && i < node->n_inputs && i < MOST_KNOWN_INPUTS; i++)
        if (!(operator_traits[node->op->id].inputs_of_other_types >> i & 1))
            union_find_join(s->parents, item_of_term(term), item_of_term(node->inputs[i]));
}

static void join_types_by_condition(struct same_types *s, const struct condition *c)
{
    for (term_id t = 0; t < s->p->terms.count && c->kind == CONDITION_DTYPE; t++)
        if (s->p->terms.items[t].is_variable && s->p->terms.items[t].index == c->variable)
            union_find_join(s->parents, item_of_term(t), c->dtype);
}

// False: there is no room for them.
static bool find_same_types(const struct equation *eq, struct same_types *ret)
{
    ret->p = eq->pattern;
    union_find_init(ret->parents, DTYPE_COUNT + MAX_TERMS);
    if (eq->pattern->terms.count > MAX_TERMS)
        return false;
    for (term_id t = 0; t < eq->pattern->terms.count; t++)
        join_types_of_term(ret, t);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        join_types_by_condition(ret, &eq->conditions[i]);
    return true;
}

bool text_has_element_types(const struct equation *eq)
{
    struct same_types s;
    bool are_same = find_same_types(eq, &s);
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        are_same = are_same && union_find_root(s.parents, item_of_term(eq->left[i])) ==
                                   union_find_root(s.parents, item_of_term(eq->right[i]));
    return are_same;
}

// --- integers --------------------------------------------------------------------------------------------------------

static bool makes_other_numbers(const struct pattern_node *node)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        for (uint32_t j = 0; node->op->attributes[i].kind == ATTRIBUTE_DTYPE && j < node->attributes[i].count; j++)
            if (node->attributes[i].terms[j]->kind != TERM_INTEGER ||
                !dtype_is_float((enum dtype)node->attributes[i].terms[j]->value))
                return true;
    return false;
}

static const struct pattern_node *node_of_term(const struct pattern *p, term_id term)
{
    return p->terms.items[term].is_variable ? NULL : &p->nodes.items[p->terms.items[term].index];
}

// Inputs that are compared have one type, too.
static void join_types_of_other_inputs(struct same_types *s, const struct pattern_node *node)
{
    uint32_t first = MOST_KNOWN_INPUTS;
    for (uint32_t i = 0; i < node->n_inputs && i < MOST_KNOWN_INPUTS; i++)
        if (operator_traits[node->op->id].inputs_of_other_types >> i & 1) {
            first = first < i ? first : i;
            union_find_join(s->parents, item_of_term(node->inputs[first]), item_of_term(node->inputs[i]));
        }
}

// Does the text say that the term has floating-point numbers?
static bool is_float_by_text(const struct same_types *s, term_id term)
{
    bool is_float = false;
    for (uint32_t type = DTYPE_NONE + 1; type < DTYPE_COUNT && !is_float; type++)
        is_float = dtype_is_float((enum dtype)type) &&
                   union_find_root(s->parents, type) == union_find_root(s->parents, item_of_term(term));
    return is_float;
}

static bool converts(const struct pattern_node *node)
{
    for (int i = 0; node->n_inputs && i < operator_n_attributes(node->op); i++)
        if (node->op->attributes[i].kind == ATTRIBUTE_DTYPE)
            return true;
    return false;
}

// The types, by what stands for each, that are no floating-point ones, or may be others: by name, by who takes no such
// numbers (places), or by who converts numbers of any type.
static void find_other_numbers(const struct same_types *s, bool *ret_are_others)
{
    for (uint32_t type = DTYPE_NONE + 1; type < DTYPE_COUNT; type++)
        if (!dtype_is_float((enum dtype)type))
            ret_are_others[union_find_root(s->parents, type)] = true;
    for (term_id t = 0; t < s->p->terms.count; t++) {
        const struct pattern_node *node = node_of_term(s->p, t);
        if (node && makes_other_numbers(node))
            ret_are_others[union_find_root(s->parents, item_of_term(t))] = true;
        for (uint32_t i = 0; node && i < node->n_inputs; i++)
            if (!operator_input_may_be_float(node->op, i) ||
                (converts(node) && !is_float_by_text(s, node->inputs[i])))
                ret_are_others[union_find_root(s->parents, item_of_term(node->inputs[i]))] = true;
    }
}

// An operator that takes truth values alone does not compute with numbers.
static bool computes_of_its_type(const struct pattern_node *node)
{
    bool computes = false;
    for (uint32_t i = 0; i < node->n_inputs && i < MOST_KNOWN_INPUTS && !operator_moves_entries(node->op); i++)
        computes = computes || (!(operator_traits[node->op->id].inputs_of_other_types >> i & 1) &&
                                operator_input_may_be_float(node->op, i));
    return computes;
}

// May an operator compute with integers, by the text?
static bool computes_integers(const struct equation *eq)
{
    bool are_others[DTYPE_COUNT + MAX_TERMS] = {0};
    struct same_types s;
    if (!find_same_types(eq, &s))
        return true;
    for (term_id t = 0; t < s.p->terms.count; t++)
        if (node_of_term(s.p, t))
            join_types_of_other_inputs(&s, node_of_term(s.p, t));
    find_other_numbers(&s, are_others);
    for (term_id t = 0; t < s.p->terms.count; t++)
        if (node_of_term(s.p, t) && are_others[union_find_root(s.parents, item_of_term(t))] &&
            computes_of_its_type(node_of_term(s.p, t)))
            return true;
    return false;
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
    bool is_of_reals = !computes_integers(eq);
    for (size_t n = 0; n < eq->pattern->nodes.count; n++) {
        const struct pattern_node *node = &eq->pattern->nodes.items[n];
        is_of_reals = is_of_reals && !operator_has(node->op, TRAIT_ASKS_NUMBER) && !makes_other_numbers(node);
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            is_of_reals = is_of_reals && !names_infinity(&node->op->attributes[i], &node->attributes[i]);
    }
    return is_of_reals;
}
