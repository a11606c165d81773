// Rules from text and back: names, terms, conditions, proofs.
#include "substitutions/rule.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include <assert.h>
#include <string.h>

// --- parsing ---------------------------------------------------------------------------------------------------------

struct rule_items {
    const struct sexp *source, *let, *target, *where, *proof;
};

static bool take_item(struct rule_items *items, const struct sexp *s, const char *file, struct error *error)
{
    const struct sexp **place = sexp_is_call(s, "source")                                ? &items->source
                                : sexp_is_call(s, "let")                                 ? &items->let
                                : sexp_is_call(s, "target")                              ? &items->target
                                : sexp_is_call(s, "where")                               ? &items->where
                                : sexp_is_call(s, "proof") || sexp_is_call(s, "checked") ? &items->proof
                                                                                         : NULL;
    if (!place)
        return sexp_error(error, file, s,
                          "expected (source ...), (let ...), (target ...), (where ...), (proof ...) or (checked ...)");
    if (*place)
        return sexp_error(error, file, s, "%s is given twice", s->items[0].text);
    *place = s;
    return true;
}

static bool take_items(const struct sexp *s, const char *file, struct rule_items *ret_items, struct error *error)
{
    *ret_items = (struct rule_items){0};
    if (!sexp_is_call(s, "rule") || s->count < 2 || s->items[1].kind != SEXP_SYMBOL)
        return sexp_error(error, file, s, "expected (rule NAME (source ...) (target ...))");
    for (size_t i = 2; i < s->count; i++)
        if (!take_item(ret_items, &s->items[i], file, error))
            return false;
    if (!ret_items->source || !ret_items->target)
        return sexp_error(error, file, s, "a rule needs a source and a target");
    size_t n = ret_items->source->count - 1;
    return (n != 0 && n <= MAX_RULE_OUTPUTS && ret_items->target->count - 1 == n) ||
           sexp_error(error, file, s, "source and target need equally many terms, at most %d", MAX_RULE_OUTPUTS);
}

static bool parse_terms(struct rule *r, const struct sexp *list, const char *file, struct arena *a, term_id *ret_terms,
                        struct error *error)
{
    return ALL(size_t, i, list->count - 1,
               pattern_parse_term(&r->pattern, &list->items[i + 1], file, a, &ret_terms[i], error));
}

static bool parse_names(struct rule *r, const struct sexp *let, const char *file, struct arena *a, struct error *error)
{
    return !let || ALL(size_t, i, let->count - 1, pattern_parse_name(&r->pattern, &let->items[i + 1], file, a, error));
}

static bool parse_conditions(struct rule *r, const struct sexp *where, const char *file, struct arena *a,
                             struct error *error)
{
    if (!where)
        return true;
    struct condition *conditions = arena_array(a, struct condition, where->count);
    r->n_conditions = (uint32_t)where->count - 1;
    r->conditions = conditions;
    return ALL(uint32_t, i, r->n_conditions,
               pattern_parse_condition(&r->pattern, &where->items[i + 1], file, a, &conditions[i], error));
}

static bool is_bound_by_attributes(const struct rule *r, int64_t variable)
{
    return FIND(r->pattern.nodes.items, r->n_source_nodes, node,
                ANY(int, i, operator_n_attributes(node->op),
                    ANY(uint32_t, j, node->attributes[i].count,
                        node->attributes[i].terms[j]->kind == TERM_VARIABLE &&
                            node->attributes[i].terms[j]->value == variable)));
}

static bool check_binding(const struct rule *r, uint32_t variables_of_source, const struct sexp *s, const char *file,
                          struct error *error)
{
    for (uint32_t i = 0; i < r->n_outputs; i++)
        if (r->pattern.terms.items[r->sources[i]].is_variable)
            return sexp_error(error, file, s, "a source term must be an application");
    if (r->pattern.n_variables > variables_of_source)
        return sexp_error(error, file, s, "?%s does not occur in the source",
                          r->pattern.variables[variables_of_source]);
    for (uint32_t v = 0; v < r->pattern.n_attribute_variables; v++)
        if (!is_bound_by_attributes(r, v))
            return sexp_error(error, file, s, "$%s is no whole attribute of the source",
                              r->pattern.attribute_variables[v]);
    return true;
}

static void print_sexp(struct text *out, const struct sexp *s)
{
    switch (s->kind) {
    case SEXP_LIST:
        text_add(out, "(");
        for (size_t i = 0; i < s->count; i++) {
            text_add(out, i ? " " : "");
            print_sexp(out, &s->items[i]);
        }
        text_add(out, ")");
        break;
    case SEXP_SYMBOL:
        text_add(out, s->text);
        break;
    case SEXP_STRING:
        text_add_quoted(out, s->text);
        break;
    case SEXP_INTEGER:
        text_printf(out, "%lld", (long long)s->integer);
        break;
    case SEXP_REAL:
        text_add_real(out, s->real);
        break;
    }
}

static const char *text_of_proof(const struct sexp *proof, struct arena *a)
{
    if (!proof)
        return NULL;
    TEXT(text);
    print_sexp(&text, proof);
    return arena_string(a, text.chars);
}

static size_t count_reads(const struct rule *r)
{
    return SUM_ALL(size_t, uint32_t, i, r->n_source_nodes, r->pattern.nodes.items[i].n_inputs);
}

static bool parse_rule(struct rule *r, const struct sexp *s, const char *file, struct arena *a, struct error *error)
{
    struct rule_items items;
    if (!take_items(s, file, &items, error))
        return false;
    r->name = arena_string(a, s->items[1].text);
    r->line = s->line;
    r->column = s->column;
    r->n_outputs = (uint32_t)items.source->count - 1;
    if (!parse_terms(r, items.source, file, a, r->sources, error))
        return false;
    r->n_source_nodes = (uint32_t)r->pattern.nodes.count;
    if (r->n_source_nodes > MAX_SOURCE_NODES || count_reads(r) > MAX_SOURCE_READS)
        return sexp_error(error, file, items.source, "a source of more than %d operators or %d inputs of these",
                          MAX_SOURCE_NODES, MAX_SOURCE_READS);
    uint32_t variables_of_source = r->pattern.n_variables;
    if (!parse_names(r, items.let, file, a, error) || !parse_terms(r, items.target, file, a, r->targets, error) ||
        !parse_conditions(r, items.where, file, a, error))
        return false;
    r->proof = text_of_proof(items.proof, a);
    return check_binding(r, variables_of_source, s, file, error);
}

bool rule_parse(const struct sexp *s, const char *file, struct arena *a, struct rule **ret_rule, struct error *error)
{
    struct rule *r = arena_new(a, struct rule);
    pattern_init(&r->pattern);
    if (!parse_rule(r, s, file, a, error)) {
        pattern_free(&r->pattern);
        return false;
    }
    *ret_rule = r;
    return true;
}

size_t rule_set_filter(struct rule_set *set, bool (*is_kept)(const struct rule *r, const void *context),
                       const void *context)
{
    size_t n_all = set->rules.count, n_kept = 0;
    for (size_t i = 0; i < n_all; i++) {
        struct rule *r = set->rules.items[i];
        if (is_kept(r, context))
            set->rules.items[n_kept++] = r;
        else
            rule_free(r);
    }
    set->rules.count = n_kept;
    return n_all - n_kept;
}

size_t rule_set_find(const struct rule_set *set, const struct rule *r)
{
    size_t found = FIRST_OF(size_t, i, set->rules.count, set->rules.items[i] == r);
    assert(found < set->rules.count);
    return found;
}

static size_t count_target_operators(const struct rule *r)
{
    const struct pattern *p = &r->pattern;
    LOCAL_VEC(term_id, left);
    LOCAL_ZEROS(bool, is_counted, p->nodes.count + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_outputs; i++)
        vec_push(&left, r->targets[i]);
    while (left.count) {
        const struct term *t = &p->terms.items[vec_pop(&left)];
        if (t->is_variable || is_counted[t->index])
            continue;
        is_counted[t->index] = true;
        n++;
        for (uint32_t i = 0; i < p->nodes.items[t->index].n_inputs; i++)
            vec_push(&left, p->nodes.items[t->index].inputs[i]);
    }
    return n;
}

size_t rule_most_operators(const struct rule *r)
{
    size_t n_target = count_target_operators(r);
    return r->n_source_nodes > n_target ? r->n_source_nodes : n_target;
}

bool rule_claims_proof(const struct rule *r)
{
    return r->proof && strncmp(r->proof, "(proof ", 7) == 0 &&
           (strstr(r->proof, "(properties") || strstr(r->proof, "(symbols ") || strstr(r->proof, "(law "));
}

bool rule_is_only_checked(const struct rule *r)
{
    return r->proof && strncmp(r->proof, "(checked", 8) == 0;
}

bool rule_is_generated(const struct rule *r)
{
    enum { DIGITS = 12 };
    size_t n = strlen(r->name);
    return n > DIGITS && r->name[n - DIGITS - 1] == '-' && strspn(r->name + n - DIGITS, "0123456789abcdef") == DIGITS;
}

static bool has_differences(const struct pattern *p, size_t first, size_t end)
{
    return ANY(size_t, n, end - first, operator_subtracts(p->nodes.items[first + n].op));
}

bool rule_introduces_differences(const struct rule *r)
{
    return has_differences(&r->pattern, r->n_source_nodes, r->pattern.nodes.count) &&
           !has_differences(&r->pattern, 0, r->n_source_nodes);
}

void rule_free(struct rule *r)
{
    pattern_free(&r->pattern);
}

// --- printing --------------------------------------------------------------------------------------------------------

static void print_terms(struct text *out, const struct rule *r, const char *label, const term_id *terms,
                        const uint8_t *names)
{
    text_printf(out, "\n  (%s", label);
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        if (i)
            text_add(out, "\n         ");
        text_add(out, " ");
        pattern_print_term_by_names(out, &r->pattern, terms[i], names);
    }
    text_add(out, ")");
}

// Nodes of a long target that are read more than once are written once.
enum { MOST_WRITTEN_OUT = 48 };
static bool number_names(const struct rule *r, uint8_t *ret_names)
{
    const struct pattern *p = &r->pattern;
    LOCAL_ZEROS(uint32_t, reads, p->nodes.count + 1);
    uint8_t n_names = 0;
    for (size_t n = r->n_source_nodes; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            reads[t->is_variable ? p->nodes.count : t->index]++;
        }
    for (size_t n = r->n_source_nodes; n < p->nodes.count; n++)
        if (reads[n] > 1 && !operator_splits(p->nodes.items[n].op))
            ret_names[n] = ++n_names;
    bool are_taken = ANY(uint32_t, v, p->n_variables, strncmp(p->variables[v], "part", strlen("part")) == 0);
    return p->nodes.count > MOST_WRITTEN_OUT && n_names > 0 && !are_taken;
}

static void print_names(struct text *out, const struct rule *r, const uint8_t *names)
{
    const struct pattern *p = &r->pattern;
    text_add(out, "\n  (let");
    for (term_id t = 0; t < p->terms.count; t++)
        if (!p->terms.items[t].is_variable && names[p->terms.items[t].index]) {
            text_printf(out, "\n    (?part%u ", names[p->terms.items[t].index]);
            pattern_print_application(out, p, t, names);
            text_add(out, ")");
        }
    text_add(out, ")");
}

static void print_conditions(struct text *out, const struct rule *r)
{
    if (r->n_conditions) {
        text_add(out, "\n  (where");
        for (uint32_t i = 0; i < r->n_conditions; i++) {
            text_add(out, " ");
            pattern_print_condition(out, &r->pattern, &r->conditions[i]);
        }
        text_add(out, ")");
    }
}

void rule_print_statement(struct text *out, const struct rule *r)
{
    LOCAL_ZEROS(uint8_t, names, r->pattern.nodes.count + 1);
    bool has_names = number_names(r, names);
    print_terms(out, r, "source", r->sources, NULL);
    if (has_names)
        print_names(out, r, names);
    print_terms(out, r, "target", r->targets, has_names ? names : NULL);
    print_conditions(out, r);
}

const char *rule_statement(const struct rule *r, struct arena *a)
{
    TEXT(text);
    rule_print_statement(&text, r);
    return arena_string(a, text.chars);
}

void rule_print(struct text *out, const struct rule *r)
{
    text_printf(out, "(rule %s", r->name);
    rule_print_statement(out, r);
    if (r->proof)
        text_printf(out, "\n  %s", r->proof);
    text_add(out, ")\n");
}

// --- sets ------------------------------------------------------------------------------------------------------------

void rule_set_init(struct rule_set *set, struct arena *arena)
{
    *set = (struct rule_set){.arena = arena};
}

void rule_set_free(struct rule_set *set)
{
    for (size_t i = 0; i < set->rules.count; i++)
        rule_free(set->rules.items[i]);
    vec_free(&set->rules);
}

static bool add_rules(struct rule_set *set, const char *file, const struct sexp *list, struct error *error)
{
    struct rule *rule;
    for (size_t i = 0; i < list->count; i++) {
        if (!rule_parse(&list->items[i], file, set->arena, &rule, error))
            return false;
        rule->number = (uint32_t)set->rules.count;
        vec_push(&set->rules, rule);
    }
    return true;
}

bool rule_set_parse(struct rule_set *set, const char *file, const char *text, size_t size, struct error *error)
{
    const struct sexp *list;
    return sexp_parse(set->arena, file, text, size, &list, error) && add_rules(set, file, list, error);
}

bool rule_set_add_backwards_of(struct rule_set *set, const struct rule *r)
{
    TEXT(text);
    struct error ignored;
    text_printf(&text, "(rule %s-backwards", r->name);
    print_terms(&text, r, "source", r->targets, NULL);
    print_terms(&text, r, "target", r->sources, NULL);
    print_conditions(&text, r);
    text_add(&text, ")\n");
    return rule_set_parse(set, "backwards", text.chars, text.count, &ignored);
}

void rule_set_add_backwards(struct rule_set *set)
{
    size_t n = set->rules.count;
    for (size_t i = 0; i < n; i++)
        rule_set_add_backwards_of(set, set->rules.items[i]);
}

bool rule_set_read(struct rule_set *set, const char *path, struct error *error)
{
    ARENA(scratch);
    const struct sexp *list;
    return sexp_parse_file(&scratch, path, &list, error) && add_rules(set, path, list, error);
}
