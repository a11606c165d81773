// Lists of parts of any length: those that nothing asks for are one (T6).
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"

#include "core/text/text.h"
#include "operators/traits.h"

#define LONGEST_PARTS 3   // that are tried

static bool is_length_of(const struct condition *c, uint32_t variable, int64_t *ret_length)
{
    bool is_length = c->kind == CONDITION_EQUAL && c->a->kind == TERM_LENGTH && form_is_integer(c->b) &&
                     form_is_variable(c->a->operands[0]) && c->a->operands[0]->value == variable;
    bool is_list = c->kind == CONDITION_EQUAL && form_is_variable(c->a) && c->a->value == variable &&
                   c->b->kind == TERM_LIST && c->b->count;
    for (uint32_t i = 0; is_list && i < c->b->count; i++)
        is_list = attribute_term_is_one_entry(c->b->operands[i]);
    *ret_length = is_length ? c->b->value : is_list ? c->b->count : 0;
    return is_length || is_list;
}

int64_t form_length_of_parts(const struct equation *eq, uint32_t variable)
{
    int64_t length;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind) && is_length_of(&eq->conditions[i], variable, &length))
            return length;
    return 0;
}

// A condition that no theorem names may leave out the lengths that are tried: of 1, 5 and 10 parts there is 1.
static bool has_other_condition(const struct equation *eq, uint32_t variable)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (!condition_is_of_variable(c->kind) && !form_names_condition(eq->pattern, c) &&
            ((attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b)) >> variable & 1))
            return true;
    }
    return false;
}

// How many parts a list can have that are told apart: those that are named, and the rest, which is one.
static int64_t parts_told_apart(const struct equation *eq, uint32_t variable)
{
    const struct pattern *p = eq->pattern;
    int64_t parts = 0, length = form_length_of_parts(eq, variable);
    if (length > 0)
        return length;
    for (term_id t = 0; t < p->terms.count; t++) {
        const struct term *term = &p->terms.items[t];
        const struct pattern_node *node = term->is_variable ? NULL : &p->nodes.items[term->index];
        int sizes = node ? operator_find_role(node->op, ROLE_PART_SIZES) : -1;
        bool is_its = sizes >= 0 && form_is_one_variable(&node->attributes[sizes]) &&
                      node->attributes[sizes].terms[0]->value == variable;
        if (is_its && term->output + 2 > parts)
            parts = term->output + 2;
    }
    return parts > 0 && has_other_condition(eq, variable) ? LONGEST_PARTS + 1 : parts;
}

bool form_has_lengths_of_parts(const struct form_question *q)
{
    for (uint32_t v = 0; v < q->eq->pattern->n_attribute_variables; v++)
        if (parts_told_apart(q->eq, v) > LONGEST_PARTS) {
            text_printf(q->why, "nothing says how many parts $%s has, and up to %d are tried",
                        q->eq->pattern->attribute_variables[v], LONGEST_PARTS);
            return false;
        }
    return true;
}
