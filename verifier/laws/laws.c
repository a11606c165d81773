// Laws (L1... of docs/theory/laws.md) are compared as texts: sides, conditions, and what is assumed to be well-typed or
// without cuts. What variables are called does not matter; a text that differs in a single number is another equation,
// and proved by nobody.
#include "verifier/laws/laws.h"

#include "core/text/text.h"
#include "substitutions/pattern.h"
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

// Variables by their names in both texts, each with its ? or $.
struct renaming {
    int n;
    struct {
        const char *a, *b;
        size_t length_a, length_b;
    } pairs[2 * MAX_RULE_VARIABLES];
};

static size_t name_length(const char *name)
{
    return strcspn(name, " ()");
}

static bool is_name(const char *name, size_t length, const char *other, size_t other_length)
{
    return length == other_length && memcmp(name, other, length) == 0;
}

// Does the first stand where the second does? Each name has one other name.
static bool rename_as(struct renaming *r, const char *a, const char *b)
{
    size_t length_a = name_length(a), length_b = name_length(b);
    for (int i = 0; i < r->n; i++) {
        bool is_a = is_name(a, length_a, r->pairs[i].a, r->pairs[i].length_a);
        bool is_b = is_name(b, length_b, r->pairs[i].b, r->pairs[i].length_b);
        if (is_a || is_b)
            return is_a && is_b;
    }
    if (r->n == 2 * MAX_RULE_VARIABLES)
        return false;
    r->pairs[r->n].a = a;
    r->pairs[r->n].b = b;
    r->pairs[r->n].length_a = length_a;
    r->pairs[r->n++].length_b = length_b;
    return true;
}

static bool is_same_but_for_names(const char *a, const char *b)
{
    struct renaming renaming = {0};
    while (*a && *a == *b) {
        bool is_variable = *a == '?' || *a == '$';
        if (is_variable && !rename_as(&renaming, a, b))
            return false;
        a += is_variable ? name_length(a) : 1;
        b += is_variable ? name_length(b) : 1;
    }
    return *a == *b;
}

static const char *law_of_text(const struct equation *eq, bool names_weights)
{
    struct text text = {0};
    const char *number = NULL;
    law_print_equation(&text, eq, names_weights);
    for (size_t i = 0; i < sizeof laws / sizeof *laws && !number; i++)
        number = is_same_but_for_names(laws[i].text, text.chars) ? laws[i].number : NULL;
    text_free(&text);
    return number;
}

#define MOST_NODES 12   // of a law; the text of a larger equation, in which subterms are repeated, is not made
const char *law_of_equation(const struct equation *eq)
{
    if (eq->pattern->nodes.count > MOST_NODES)
        return NULL;
    const char *number = law_of_text(eq, true);
    return number ? number : law_of_text(eq, false);
}
