// Laws (L1... of docs/theory/laws.md) are compared as texts: sides, conditions, and what is assumed to be well-typed or
// without cuts. A text that differs in a single number is another equation, and proved by nobody.
#include "verifier/bounds/laws.h"

#include "core/text/text.h"
#include <string.h>

static const struct law {
    const char *number, *text;
} laws[] = {
#define LAW(number, text) {number, text},
#include "verifier/bounds/laws.def"
#undef LAW
};

// The text that an equation is known by.
static void law_print_equation(struct text *out, const struct equation *eq)
{
    text_add(out, eq->is_strong ? "strong" : "weak");
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        text_add(out, " ");
        pattern_print_term(out, eq->pattern, eq->left[i]);
        text_add(out, " = ");
        pattern_print_term(out, eq->pattern, eq->right[i]);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        text_add(out, " where ");
        pattern_print_condition(out, eq->pattern, &eq->conditions[i]);
    }
    for (uint32_t i = 0; i < eq->n_guards; i++) {
        text_add(out, " defined ");
        pattern_print_term(out, eq->pattern, eq->guards[i]);
    }
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (eq->is_strong && (eq->plain >> v & 1))
            text_printf(out, " plain ?%s", eq->pattern->variables[v]);
}

#define MOST_NODES 12   // of a law; the text of a larger equation, in which subterms are repeated, is not made
const char *law_of_equation(const struct equation *eq)
{
    const char *number = NULL;
    struct text text = {0};
    if (eq->pattern->nodes.count > MOST_NODES)
        return NULL;
    law_print_equation(&text, eq);
    for (size_t i = 0; i < sizeof laws / sizeof *laws && !number; i++)
        number = strcmp(laws[i].text, text.chars) == 0 ? laws[i].number : NULL;
    text_free(&text);
    return number;
}
