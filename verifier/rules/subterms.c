// Pairs of subterms that differ below equal applications are written as a rule of their own.
#include "verifier/rules/subterms.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/rules/find_conditions.h"
#include "verifier/text/numbers.h"
#include "verifier/text/same_sizes.h"
#include <string.h>

struct pairs {
    uint32_t count;
    bool is_too_many;
    term_id left[MAX_RULE_OUTPUTS], right[MAX_RULE_OUTPUTS];
};

static bool is_split_by_trees(const struct pattern_node *n)
{
    return operator_splits(n->op) && n->attributes[operator_find_role(n->op, ROLE_PART_SIZES)].count == 0;
}

static bool reads_other_types_alone(const struct pattern_node *node)
{
    return node->n_inputs > 0 && node->n_inputs <= MOST_KNOWN_INPUTS &&
           operator_traits[node->op->id].inputs_of_other_types == (1u << node->n_inputs) - 1;
}

// Entries that are moved, or what reads numbers of one type and gives others: no arithmetic with numbers of the type
// that the term has.
static bool computes_nothing(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &p->nodes.items[t->index];
    if (!node || reads_other_types_alone(node))
        return true;
    bool computes_none = operator_moves_entries(node->op);
    for (uint32_t i = 0; i < node->n_inputs && computes_none; i++)
        computes_none = computes_nothing(p, node->inputs[i]);
    return computes_none;
}

// Inputs that may be integers where the result is none: equal real numbers say nothing of these.
static bool have_inputs_of_reals(const struct pattern *p, const struct pattern_node *m, const struct pattern_node *n)
{
    bool are_real = true;
    for (uint32_t i = 0; i < m->n_inputs && are_real; i++)
        are_real = !(operator_traits[m->op->id].inputs_of_other_types >> i & 1) || m->inputs[i] == n->inputs[i] ||
                   (computes_nothing(p, m->inputs[i]) && computes_nothing(p, n->inputs[i]));
    return are_real;
}

// Applications that compute the same of equal inputs. Who asks whether something is a number tells numbers apart that
// are equal as real ones are.
static bool are_alike(const struct same_sizes *same, term_id left, term_id right)
{
    const struct pattern *p = same->eq->pattern;
    const struct term *x = &p->terms.items[left], *y = &p->terms.items[right];
    if (x->is_variable || y->is_variable || x->output != y->output)
        return false;
    const struct pattern_node *m = &p->nodes.items[x->index], *n = &p->nodes.items[y->index];
    return m->n_inputs == n->n_inputs && attributes_are_same(same, m, n) && !is_split_by_trees(m) &&
           !operator_has(m->op, TRAIT_ASKS_NUMBER) && have_inputs_of_reals(p, m, n);
}

// A rule's source is an application.
static void add_pair(struct pairs *pairs, const struct pattern *p, term_id left, term_id right)
{
    if (p->terms.items[left].is_variable) {
        term_id other = left;
        left = right;
        right = other;
    }
    for (uint32_t i = 0; i < pairs->count; i++)
        if (pairs->left[i] == left && pairs->right[i] == right)
            return;
    pairs->is_too_many = pairs->is_too_many || pairs->count == MAX_RULE_OUTPUTS;
    if (pairs->is_too_many)
        return;
    pairs->left[pairs->count] = left;
    pairs->right[pairs->count++] = right;
}

static void add_pairs_below(struct pairs *pairs, const struct pattern *p, term_id left, term_id right)
{
    const struct pattern_node *m = &p->nodes.items[p->terms.items[left].index];
    const struct pattern_node *n = &p->nodes.items[p->terms.items[right].index];
    for (uint32_t i = 0; i < m->n_inputs; i++)
        if (m->inputs[i] != n->inputs[i])
            add_pair(pairs, p, m->inputs[i], n->inputs[i]);
}

// False: no sides are alike at their roots, or what is around the subterms says that something computes with integers,
// which they alone would not say.
static bool find_pairs(const struct rule *r, struct pairs *ret_pairs)
{
    bool is_any_alike = false;
    struct equation eq = equation_of_rule(r);
    struct same_sizes same = same_sizes_of(&eq);
    *ret_pairs = (struct pairs){0};
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        bool is_alike = are_alike(&same, r->sources[i], r->targets[i]);
        if (is_alike)
            add_pairs_below(ret_pairs, &r->pattern, r->sources[i], r->targets[i]);
        else if (r->sources[i] != r->targets[i])
            add_pair(ret_pairs, &r->pattern, r->sources[i], r->targets[i]);
        is_any_alike = is_any_alike || is_alike;
    }
    return is_any_alike && ret_pairs->count > 0 && !ret_pairs->is_too_many && !text_computes_integers(&eq);
}

static void print_terms(struct text *out, const char *kind, const struct pattern *p, const term_id *terms, uint32_t n)
{
    text_printf(out, " (%s", kind);
    for (uint32_t i = 0; i < n; i++) {
        text_add(out, " ");
        pattern_print_term(out, p, terms[i]);
    }
    text_add(out, ")");
}

static struct rule *parse(const struct text *text, struct arena *a)
{
    const struct sexp *list;
    struct rule *r;
    struct error error;
    bool is_rule = sexp_parse(a, NULL, text->chars, text->count, &list, &error) &&
                   rule_parse(&list->items[0], NULL, a, &r, &error);
    return is_rule ? r : NULL;
}

// Is it a rule with this condition alone?
static bool can_have_condition(const struct text *head, const char *condition, struct arena *a)
{
    struct text text = {0};
    text_printf(&text, "%s (where%s))", head->chars, condition);
    struct rule *r = parse(&text, a);
    if (r)
        rule_free(r);
    text_free(&text);
    return r != NULL;
}

static void print_conditions(struct text *out, const struct rule *r, const struct text *head, struct arena *a)
{
    struct text one = {0};
    for (uint32_t i = 0; i < r->n_conditions; i++) {
        text_clear(&one);
        text_add(&one, " ");
        pattern_print_condition(&one, &r->pattern, &r->conditions[i]);
        if (can_have_condition(head, one.chars, a))
            text_add(out, one.chars);
    }
    text_free(&one);
}

struct rule *rule_of_subterms(const struct rule *r, struct arena *a)
{
    struct pairs pairs;
    struct text head = {0}, conditions = {0};
    if (!find_pairs(r, &pairs))
        return NULL;
    text_printf(&head, "(rule %s", r->name);
    print_terms(&head, "source", &r->pattern, pairs.left, pairs.count);
    print_terms(&head, "target", &r->pattern, pairs.right, pairs.count);
    print_conditions(&conditions, r, &head, a);
    if (conditions.count)
        text_printf(&head, " (where%s)", conditions.chars);
    text_add(&head, ")");
    struct rule *subterms = parse(&head, a);
    text_free(&head);
    text_free(&conditions);
    return subterms;
}

bool conditions_of_whole(const struct rule *subterms, const struct found_condition *found, struct rule *r,
                         struct arena *a, struct found_condition *ret_found)
{
    struct text text = {0};
    struct error error;
    bool is_done = true;
    *ret_found = (struct found_condition){.is_exact = found->is_exact};
    for (uint32_t i = 0; i < found->count && is_done; i++) {
        const struct sexp *list;
        text_clear(&text);
        pattern_print_condition(&text, &subterms->pattern, &found->conditions[i]);
        is_done = sexp_parse(a, NULL, text.chars, text.count, &list, &error) &&
                  pattern_parse_condition(&r->pattern, &list->items[0], NULL, a,
                                          &ret_found->conditions[ret_found->count++], &error);
    }
    text_free(&text);
    return is_done;
}
