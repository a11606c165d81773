// Element types: both sides of an output have one, whatever those of variables are (T16).
#include "verifier/bounds/forms/terms.h"

#include "core/memory/union_find.h"
#include "core/text/text.h"
#include "operators/traits.h"

// Terms of one element type, which stand behind the types themselves.
struct same_types {
    const struct pattern *p;
    uint16_t parents[DTYPE_COUNT + MAX_FORM_TERMS];
};

static uint32_t item_of_term(term_id term)
{
    return DTYPE_COUNT + term;
}

// What an attribute says, or what the operator makes of inputs of any type; DTYPE_NONE: that of inputs.
static enum dtype type_that_is_made(const struct pattern_node *node)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++) {
        const struct attribute_pattern *a = &node->attributes[i];
        if (node->op->attributes[i].kind == ATTRIBUTE_DTYPE)
            return a->count == 1 && form_is_integer(a->terms[0]) ? (enum dtype)a->terms[0]->value : DTYPE_NONE;
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

bool form_has_element_types(const struct form_question *q)
{
    struct same_types s = {.p = q->eq->pattern};
    bool are_same = s.p->terms.count <= MAX_FORM_TERMS;
    union_find_init(s.parents, DTYPE_COUNT + MAX_FORM_TERMS);
    for (term_id t = 0; are_same && t < s.p->terms.count; t++)
        join_types_of_term(&s, t);
    for (uint32_t i = 0; are_same && i < q->eq->n_conditions; i++)
        join_types_by_condition(&s, &q->eq->conditions[i]);
    for (uint32_t i = 0; i < q->eq->n_pairs; i++)
        are_same = are_same && union_find_root(s.parents, item_of_term(q->eq->left[i])) ==
                                   union_find_root(s.parents, item_of_term(q->eq->right[i]));
    if (!are_same)
        text_add(q->why, "nothing says that both sides have one element type");
    return are_same;
}
