// Permutations of any rank: those that are the same on every way to a tensor rename its entries (T7).
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"

#include "core/text/text.h"
#include "operators/traits.h"
#include <string.h>

#define MOST_PERMUTATIONS 16
// The permutations on the way from an output to a tensor variable, the innermost last to be added.
struct word {
    uint32_t n;
    uint8_t variables[MOST_PERMUTATIONS];
};
struct renaming {
    const struct equation *eq;
    bool is_known[MAX_RULE_VARIABLES];
    struct word of_variable[MAX_RULE_VARIABLES];
    uint32_t ways;
};
#define MOST_WAYS 4096

static bool is_identity(const struct equation *eq, int64_t variable)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (c->kind == CONDITION_EQUAL && form_is_variable(c->a) && c->a->value == variable &&
            c->b->kind == TERM_IOTA && c->b->operands[0]->kind == TERM_RANK)
            return true;
    }
    return false;
}

// (at $q $p) is $q behind $p.
static bool add_permutation(const struct equation *eq, const struct attribute_term *t, struct word *word)
{
    if (t->kind == TERM_AT)
        return add_permutation(eq, t->operands[1], word) && add_permutation(eq, t->operands[0], word);
    if (!form_is_variable(t) || word->n == MOST_PERMUTATIONS)
        return false;
    if (!is_identity(eq, t->value))
        word->variables[word->n++] = (uint8_t)t->value;
    return true;
}

static bool note_way(struct renaming *r, term_id term, struct word word)
{
    const struct pattern *p = r->eq->pattern;
    const struct term *t = &p->terms.items[term];
    if (t->is_variable) {
        const struct word *known = &r->of_variable[t->index];
        bool is_same =
            !r->is_known[t->index] || (known->n == word.n && memcmp(known->variables, word.variables, word.n) == 0);
        r->is_known[t->index] = true;
        r->of_variable[t->index] = word;
        return is_same;
    }
    const struct pattern_node *node = &p->nodes.items[t->index];
    if (++r->ways > MOST_WAYS)
        return false;
    if (operator_permutes(node->op)) {
        const struct attribute_pattern *perm = &node->attributes[operator_find_role(node->op, ROLE_PERMUTATION)];
        return perm->count == 1 && add_permutation(r->eq, perm->terms[0], &word) && note_way(r, node->inputs[0], word);
    }
    if (operator_scales(node->op))
        return note_way(r, node->inputs[0], word) && note_way(r, node->inputs[1], (struct word){0});
    bool is_same = node->op->flags & OPERATOR_IS_ELEMENTWISE;
    for (uint32_t i = 0; i < node->n_inputs && is_same; i++)
        is_same = note_way(r, node->inputs[i], word);
    return is_same;
}

static const struct attribute_term *open_permutation(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++) {
        int perm = operator_find_role(p->nodes.items[n].op, ROLE_PERMUTATION);
        const struct attribute_pattern *a = perm < 0 ? NULL : &p->nodes.items[n].attributes[perm];
        if (a && !form_is_list_of(a, form_is_integer))
            return a->terms[0];
    }
    return NULL;
}

// What elementwise operators and permutations make of tensors whose entries are renamed alike is so at any rank.
static bool is_renaming(const struct equation *eq)
{
    struct renaming r = {.eq = eq};
    bool is_same = true;
    for (uint32_t i = 0; i < eq->n_pairs && is_same; i++) {
        r.ways = 0;
        memset(r.is_known, 0, sizeof r.is_known);
        is_same = note_way(&r, eq->left[i], (struct word){0}) && note_way(&r, eq->right[i], (struct word){0});
    }
    return is_same;
}

bool form_renames_entries(const struct equation *eq)
{
    return open_permutation(eq->pattern) && is_renaming(eq);
}

bool form_has_permutations(const struct form_question *q)
{
    const struct attribute_term *open = open_permutation(q->eq->pattern);
    if (!open || is_renaming(q->eq))
        return true;
    text_add(q->why, "the permutation ");
    pattern_print_attribute_term(q->why, q->eq->pattern, open);
    text_printf(q->why, " is a variable at ranks above %d", q->max_rank);
    return false;
}
