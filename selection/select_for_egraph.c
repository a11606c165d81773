// A rule is asked about at each of its examples: one e-graph of the source, explored by the rules that may derive it,
// until the target stands in the source's classes.
#include "selection/select_for_egraph.h"

#include "core/memory/arena.h"
#include "egraph/convert.h"
#include "egraph/explore.h"
#include "selection/example.h"
#include "selection/select.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define NODES_OF_A_GRAPH 10   // e-nodes that do for one of the graphs that options bound

struct asked {
    const struct rule *rule;
    uint32_t number;   // in the set
    enum rule_use use;
    struct examples examples;
};
struct deriving {
    const struct rule_set *set;
    const struct selection *options;
    struct asked *rules;   // the smallest first
    size_t n;
    bool *is_used;   // by number in the set: may derive the rule in question
    struct rule_set used;
};

static bool wants_given_weights(const struct rule *r)
{
    return ANY(uint32_t, i, r->n_conditions, r->conditions[i].kind == CONDITION_GIVEN);
}

// --- one example -----------------------------------------------------------------------------------------------------

static void explore(const struct deriving *d, struct egraph *e)
{
    struct exploration_options options = exploration_standard_options;
    struct exploration x FREED_BY(exploration_free);
    options.most_nodes = NODES_OF_A_GRAPH * (size_t)d->options->max_graphs;
    options.rounds = (uint32_t)d->options->max_steps;
    options.most_matches = 0;
    options.threads = 1;
    exploration_init(&x, e, &d->used, &options);
    exploration_run(&x);
}

static bool are_outputs_equal(const struct egraph *e, const struct graph *a, const enode_id *of_a,
                              const struct graph *b, const enode_id *of_b)
{
    return ALL(size_t, i, a->outputs.count,
               egraph_find(e, of_a[a->outputs.items[i]]) == egraph_find(e, of_b[b->outputs.items[i]]));
}

static bool follows_at(const struct deriving *d, const struct example *example)
{
    const struct graph *source = &example->source, *target = &example->target;
    LOCAL_ARRAY(enode_id, of_source, source->tensors.count + 1);
    LOCAL_ARRAY(enode_id, of_target, target->tensors.count + 1);
    struct egraph e FREED_BY(egraph_free);
    egraph_init(&e);
    egraph_add_graph(&e, source, of_source);
    explore(d, &e);
    egraph_add_graph(&e, target, of_target);
    return are_outputs_equal(&e, source, of_source, target, of_target);
}

// --- one rule --------------------------------------------------------------------------------------------------------

static uint64_t operators_of(const struct rule *r, uint32_t first, uint32_t end)
{
    uint64_t set = 0;
    for (uint32_t n = first; n < end; n++)
        set |= (uint64_t)1 << r->pattern.nodes.items[n].op->id % 64;
    return set;
}

// Chooses among rules whose operators there can be.
static void choose_reachable(struct deriving *d, const struct asked *a)
{
    uint64_t available = operators_of(a->rule, 0, a->rule->n_source_nodes), before;
    LOCAL_ARRAY(bool, is_allowed, d->n + 1);
    memcpy(is_allowed, d->is_used, d->n);
    memset(d->is_used, 0, d->n);
    do {
        before = available;
        for (size_t i = 0; i < d->n; i++) {
            const struct rule *r = d->set->rules.items[i];
            bool is_reachable = is_allowed[i] && !(operators_of(r, 0, r->n_source_nodes) & ~available);
            d->is_used[i] = is_reachable;
            if (is_reachable)
                available |= operators_of(r, r->n_source_nodes, (uint32_t)r->pattern.nodes.count);
        }
    } while (available != before);
    vec_clear(&d->used.rules);
    for (size_t i = 0; i < d->n; i++)
        if (d->is_used[i])
            vec_push(&d->used.rules, d->set->rules.items[i]);
}

// Does its source name an axis or another attribute by a number?
static bool names_numbers(const struct rule *r)
{
    return FIND(r->pattern.nodes.items, r->n_source_nodes, node,
                ANY(int, i, operator_n_attributes(node->op),
                    ANY(uint32_t, k, node->attributes[i].count, node->attributes[i].terms[k]->kind == TERM_INTEGER))) !=
           NULL;
}

// Examples of a rule for all axes may all be at one of them.
static bool may_derive(const struct rule *r, const struct rule *derived)
{
    return !wants_given_weights(r) && (rule_claims_proof(r) || !rule_claims_proof(derived)) &&
           (derived->pattern.n_attribute_variables == 0 || !names_numbers(r));
}

// Does the rule follow from the kept ones of the first `end` rules, without itself?
static bool follows(struct deriving *d, size_t place, size_t end)
{
    const struct asked *a = &d->rules[place];
    memset(d->is_used, 0, d->n);
    for (size_t i = 0; i < end; i++) {
        const struct asked *other = &d->rules[i];
        d->is_used[other->number] = i != place && other->use == RULE_IS_KEPT && may_derive(other->rule, a->rule);
    }
    choose_reachable(d, a);
    return a->examples.items.count > 0 && !wants_given_weights(a->rule) &&
           ALL(size_t, i, a->examples.items.count, follows_at(d, &a->examples.items.items[i]));
}

// --- all rules -------------------------------------------------------------------------------------------------------

COMPARISON(compare_rules, struct asked, rule_compare_sizes(x->rule, y->rule))

static bool may_be_dropped(const struct deriving *d, const struct asked *a)
{
    return a->number < d->options->n_generated && a->use != RULE_IS_LARGE;
}

static void make_examples(struct deriving *d)
{
    int threads = d->options->threads ? d->options->threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    {
        struct typing typing FREED_BY(typing_free);
        typing_init(&typing);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < d->n; i++) {
            if (!may_be_dropped(d, &d->rules[i]))
                continue;
            examples_make(&d->rules[i].examples, d->rules[i].rule, &typing);
            examples_set_weights(&d->rules[i].examples, rule_weights(d->rules[i].rule));
        }
    }
}

static void ask(struct deriving *d, size_t place, size_t end)
{
    d->rules[place].use = follows(d, place, end) ? RULE_IS_DERIVED : RULE_IS_KEPT;
}

static void drop_what_follows(struct deriving *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (may_be_dropped(d, &d->rules[i]))
            ask(d, i, i);
    for (size_t i = d->n; i-- > 0;)
        if (may_be_dropped(d, &d->rules[i]) && d->rules[i].use == RULE_IS_KEPT)
            ask(d, i, d->n);
    for (size_t i = 0; i < d->n; i++)
        if (may_be_dropped(d, &d->rules[i]) && d->rules[i].use == RULE_IS_DERIVED)
            ask(d, i, d->n);
}

static void drop_what_is_large(struct deriving *d)
{
    EACH(d->rules, d->n, a) {
        size_t n_source = a->rule->n_source_nodes, n_target = a->rule->pattern.nodes.count - n_source;
        size_t n_operators = n_source > n_target ? n_source : n_target;
        if (may_be_dropped(d, a) && n_operators > (size_t)d->options->max_operators)
            a->use = RULE_IS_LARGE;
    }
}

void selection_make_for_egraph(struct selection *s, const struct rule_set *set)
{
    ARENA(arena);
    struct deriving d = {.set = set, .options = s, .n = set->rules.count};
    d.rules = arena_array(&arena, struct asked, d.n + 1);
    d.is_used = arena_array(&arena, bool, d.n + 1);
    for (size_t i = 0; i < d.n; i++)
        d.rules[i] = (struct asked){.rule = set->rules.items[i], .number = (uint32_t)i};
    qsort(d.rules, d.n, sizeof *d.rules, compare_rules);
    drop_what_is_large(&d);
    make_examples(&d);
    drop_what_follows(&d);
    s->n = d.n;
    s->uses = mem_new_array(enum rule_use, s->n + 1);
    s->rules = mem_new_array(const struct rule *, s->n + 1);
    for (size_t i = 0; i < d.n; i++) {
        s->uses[d.rules[i].number] = d.rules[i].use;
        s->rules[i] = set->rules.items[i];
        examples_free(&d.rules[i].examples);
    }
    vec_free(&d.used.rules);
}
