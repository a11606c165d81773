// Laws (L1... of docs/theory/laws.md) are compared as texts: sides, conditions, and what is assumed to be well-typed or
// without cuts. What variables are called does not matter; a text that differs in a single number is another equation,
// and proved by nobody.
#include "verifier/laws/laws.h"

#include "core/text/text.h"
#include "substitutions/pattern.h"
#include "verifier/text/variables.h"
#include <string.h>

static const struct law {
    const char *number, *text;
} laws[] = {
#define LAW(number, text) {number, text},
#include "verifier/laws/laws.def"
#undef LAW
};

// The text that an equation is known by. What is a weight changes no value, so that a law which does not ask for it is
// that of a rule which does.
static void law_print_equation(struct text *out, const struct equation *eq, bool names_weights)
{
    text_add(out, eq->is_strong ? "strong" : "weak");
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        text_add(out, " ");
        pattern_print_term(out, eq->pattern, eq->left[i]);
        text_add(out, " = ");
        pattern_print_term(out, eq->pattern, eq->right[i]);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        if (eq->conditions[i].kind == CONDITION_WEIGHT && !names_weights)
            continue;
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

static const char *law_of_text(const struct equation *eq, bool names_weights)
{
    TEXT(named);
    TEXT(asked);
    const char *number = NULL;
    law_print_equation(&named, eq, names_weights);
    text_add_numbered(&asked, named.chars);
    for (size_t i = 0; i < sizeof laws / sizeof *laws && !number; i++) {
        TEXT(known);
        text_add_numbered(&known, laws[i].text);
        number = strcmp(known.chars, asked.chars) == 0 ? laws[i].number : NULL;
    }
    return number;
}

const char *law_of_equation(const struct equation *eq)
{
    if (eq->pattern->nodes.count > MOST_NODES_OF_TEXT)
        return NULL;
    const char *number = law_of_text(eq, true);
    return number ? number : law_of_text(eq, false);
}
