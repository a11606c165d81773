// Which members are unified with which: all of them, and where that fails those that agree there.
#include "generator/unify/unify.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "generator/unify/one_rule.h"
#include "substitutions/pattern.h"
#include <string.h>

// --- skeletons -------------------------------------------------------------------------------------------------------

// Sizes of parts that are not given are those that were joined, no value that could be another one.
static void print_rest_of_attributes(struct text *out, const struct rule *r, const struct pattern_node *n)
{
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        bool may_differ = attribute_may_differ(n->op, i);
        if (n->op->attributes[i].role == ROLE_PART_SIZES && n->attributes[i].count == 0)
            text_add(out, " -");
        for (uint32_t k = 0; !may_differ && k < n->attributes[i].count; k++) {
            text_add(out, " ");
            pattern_print_attribute_term(out, &r->pattern, n->attributes[i].terms[k]);
        }
    }
}

static void print_term_ids(struct text *out, const term_id *terms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        text_printf(out, " %u", terms[i]);
    text_add(out, ";");
}

void rule_print_skeleton(struct text *out, const struct rule *r)
{
    vec_each(&r->pattern.nodes, n) {
        text_add(out, n->op->name);
        print_rest_of_attributes(out, r, n);
        print_term_ids(out, n->inputs, n->n_inputs);
    }
    vec_each(&r->pattern.terms, t)
        text_printf(out, " %d.%u.%u", t->is_variable, t->index, t->output);
    for (uint32_t i = 0; i < r->pattern.n_variables; i++)
        text_printf(out, " %s", r->pattern.variables[i]);
    text_printf(out, " %u:", r->n_source_nodes);
    print_term_ids(out, r->sources, r->n_outputs);
    print_term_ids(out, r->targets, r->n_outputs);
}

// --- dividing --------------------------------------------------------------------------------------------------------

// Sets of members, as lists of their numbers, that are to be unified; each once.
struct member_set {
    size_t n, *members;
};
struct dividing {
    struct arena *arena;
    const struct unify_member *members;
    size_t n;
    VEC(struct member_set) sets;
};
enum { MAX_SETS = 64 };

static void add_set(struct dividing *d, const bool *is_in)
{
    struct member_set set = {0, arena_array(d->arena, size_t, d->n)};
    for (size_t i = 0; i < d->n; i++)
        if (is_in[i])
            set.members[set.n++] = i;
    bool is_known = set.n < 2 || d->sets.count == MAX_SETS ||
                    ANY(size_t, i, d->sets.count,
                        d->sets.items[i].n == set.n &&
                            memcmp(d->sets.items[i].members, set.members, set.n * sizeof *set.members) == 0);
    if (!is_known)
        vec_push(&d->sets, set);
}

// Sets of members that have the same text at the place.
static void add_sets_of_equal_texts(struct dividing *d, const struct member_set *of, struct place at)
{
    for (size_t i = 0; i < of->n; i++) {
        const char *text = unifying_text(d->arena, &d->members[of->members[i]], at.node, at.attribute);
        bool *is_in = arena_array(d->arena, bool, d->n);
        for (size_t k = 0; k < of->n; k++) {
            const struct unify_member *m = &d->members[of->members[k]];
            is_in[of->members[k]] = strcmp(text, unifying_text(d->arena, m, at.node, at.attribute)) == 0;
        }
        add_set(d, is_in);
    }
}

// Sets of members of which a form says what stands at the place.
static void add_sets_of_forms(struct dividing *d, const struct member_set *of, struct unifying *u, struct place at)
{
    const struct attribute_value *values = unifying_values(u, at.node, at.attribute);
    for (size_t form = 0; form < u->terms.atoms.count; form++) {
        bool *is_in = arena_array(d->arena, bool, d->n);
        size_t example = 0;
        for (size_t i = 0; i < of->n; i++) {
            is_in[of->members[i]] = true;
            for (size_t k = 0; k < u->members[i].n_examples; k++, example++)
                is_in[of->members[i]] &= list_terms_has(&u->terms, form, example, &values[example]);
        }
        add_set(d, is_in);
    }
}

static bool have_equal_ranks(const struct unify_member *x, const struct unify_member *y)
{
    return ALL(uint32_t, t, x->rule->pattern.n_variables,
               x->examples[0].tensors[t]->rank == y->examples[0].tensors[t]->rank);
}

static bool are_of_one_length(const struct attribute_value *x, const struct attribute_value *y)
{
    return x->count == y->count || x->count == 0 || y->count == 0;
}

// Lists of integers that both have are as long as each other: shapes of one rank, say.
static bool have_equal_lengths(const struct unify_member *x, const struct unify_member *y)
{
    bool are_equal = true;
    for (size_t i = 0; i < x->rule->pattern.nodes.count; i++)
        for (int a = 0; a < operator_n_attributes(x->rule->pattern.nodes.items[i].op); a++)
            are_equal =
                are_equal && are_of_one_length(&x->examples[0].attributes[i][a], &y->examples[0].attributes[i][a]);
    return are_equal;
}

static bool are_of_one_rank(const struct unify_member *x, const struct unify_member *y)
{
    return have_equal_ranks(x, y) && have_equal_lengths(x, y);
}

// A set of three members or more is if they are of several ranks; others are if the rule is small.
static bool is_worth_a_proof(const struct dividing *d, const struct member_set *set)
{
    enum { SMALL = 3, LARGE = 7 };   // operators, of source and target together
    size_t n = d->members[0].rule->pattern.nodes.count;
    bool is_worth = n <= SMALL;
    for (size_t i = 1; i < set->n && set->n > 2 && !is_worth && n <= LARGE; i++)
        is_worth = !are_of_one_rank(&d->members[set->members[0]], &d->members[set->members[i]]);
    return is_worth;
}

// Members that agree at some place of the source, which may be one that the others do not belong with.
static void add_sets_of_equal_sources(struct dividing *d)
{
    enum { SMALL = 4 };
    const struct rule *model = d->members[0].rule;
    const struct member_set all = d->sets.items[0];
    if (model->pattern.nodes.count > SMALL)
        return;
    for (size_t i = 0; i < model->n_source_nodes; i++)
        for (int a = 0; a < operator_n_attributes(model->pattern.nodes.items[i].op); a++)
            if (attribute_may_differ(model->pattern.nodes.items[i].op, a))
                add_sets_of_equal_texts(d, &all, (struct place){i, a});
}

static void add_rule(unified_list *rules, struct unified_rule rule)
{
    bool is_known = ANY(size_t, i, rules->count, strcmp(rules->items[i].body, rule.body) == 0);
    if (!is_known)
        vec_push(rules, rule);
}

// A place that nothing speaks of may hold anything, or be known if fewer members are unified.
static void add_sets_of_unspoken(struct dividing *d, const struct member_set *of, struct unifying *u)
{
    struct place at;
    for (uint32_t v = 0; (v = unifying_find_unspoken(u, v, &at)) < MAX_RULE_VARIABLES; v++) {
        add_sets_of_equal_texts(d, of, at);
        add_sets_of_forms(d, of, u, at);
    }
}

static void unify_set(struct dividing *d, struct member_set set, unified_list *ret_rules)
{
    struct unify_member *members = arena_array(d->arena, struct unify_member, set.n);
    struct unifying u FREED_BY(unifying_free);
    struct place failed;
    for (size_t i = 0; i < set.n; i++)
        members[i] = d->members[set.members[i]];
    enum unifying_result result = unifying_run(&u, d->arena, members, set.n, &failed);
    if (result == UNIFYING_DONE) {
        add_rule(ret_rules, (struct unified_rule){rule_statement(&u.rule, d->arena), set.n, set.members[0]});
        add_sets_of_unspoken(d, &set, &u);
    }
    if (result == UNIFYING_NO_TERM) {
        add_sets_of_equal_texts(d, &set, failed);
        add_sets_of_forms(d, &set, &u, failed);
    }
}

void rules_unify(struct arena *a, const struct unify_member *members, size_t n, unified_list *ret_rules)
{
    struct dividing d = {.arena = a, .members = members, .n = n};
    bool *is_in = arena_array(a, bool, n);
    memset(is_in, true, n);
    add_set(&d, is_in);
    if (n > 1)
        add_sets_of_equal_sources(&d);
    for (size_t i = 0; i < d.sets.count; i++)
        if (is_worth_a_proof(&d, &d.sets.items[i]))
            unify_set(&d, d.sets.items[i], ret_rules);
    vec_free(&d.sets);
}
