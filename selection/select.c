// Judges form, gain and need of each rule, the smallest first.
#include "selection/select.h"

#include "graph/graph_whole.h"
#include "selection/example.h"
#include "selection/reach.h"
#include "selection/work.h"
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *rule_use_name(enum rule_use use)
{
    static const char *const names[RULE_USES] = {
        [RULE_IS_KEPT] = "kept",
        [RULE_IS_APART] = "in parts that share nothing",
        [RULE_IS_A_COINCIDENCE] = "too many coincidences",
        [RULE_HAS_NO_EXAMPLE] = "no example was found",
        [RULE_ONLY_COSTS] = "the target never costs less",
        [RULE_ONLY_MOVES] = "the target costs the same",
        [RULE_IS_REFUSED] = "no equations over the prime field",
        [RULE_NEVER_MATCHES] = "no model has its operators",
        [RULE_IS_DERIVED] = "derived from others",
        [RULE_IS_LARGE] = "larger than what is put together of them",
    };
    return names[use];
}

#define OUTPUT OP_COUNT   // among the operators that read a tensor: none, the tensor is an output

struct candidate {
    const struct rule *rule;
    uint32_t number;   // in the set
    struct examples examples;
    struct work *sources, *targets;   // of the examples
    enum rule_use use;
    bool is_written;
};
struct selecting {
    const struct selection *options;
    struct candidate *candidates;   // sorted
    size_t n;
    // May the first, an operator of rules, be read by the second? OUTPUT: is it made at all?
    bool is_made[OP_COUNT][OP_COUNT + 1];
};

static bool may_be_dropped(const struct candidate *c)
{
    return c->use == RULE_IS_KEPT && !c->is_written;
}

// --- what a rule is good for -----------------------------------------------------------------------------------------

// Subsets of the rule's variables that contain those that have to be weights.
static bool next_weights(const struct rule *r, uint32_t *weights)
{
    uint32_t all = (1u << r->pattern.n_variables) - 1, forced = rule_weights(r);
    *weights = ((*weights | forced) + 1) | forced;
    return *weights <= all;
}

static bool may_gain(const struct candidate *c, uint32_t weights, bool *ret_may_cost)
{
    bool gains = false;
    for (size_t i = 0; i < c->examples.items.count; i++) {
        enum work_order order = work_compare(&c->sources[i], &c->targets[i], weights);
        gains = gains || order == WORK_MAY_BE_LESS;
        *ret_may_cost = *ret_may_cost || order == WORK_IS_NO_LESS;
    }
    return gains;
}

// With nothing known beforehand, is there one more product? To undo what others share is worth it only for special
// sizes.
static bool has_more_products(const struct candidate *c)
{
    uint32_t weights = rule_weights(c->rule);
    return ANY(size_t, i, c->examples.items.count,
               work_products(&c->targets[i], weights) > work_products(&c->sources[i], weights));
}

// ret_weights: the least number of weights with which the target may be better, the first such set.
static enum work_order compare_sides(const struct candidate *c, uint32_t *ret_weights)
{
    uint32_t weights = rule_weights(c->rule);
    bool may_cost = false;
    int least = INT_MAX;
    if (has_more_products(c))
        return WORK_IS_NO_LESS;
    do
        if (__builtin_popcount(weights) < least && may_gain(c, weights, &may_cost)) {
            least = __builtin_popcount(weights);
            *ret_weights = weights;
        }
    while (next_weights(c->rule, &weights));
    return least < INT_MAX ? WORK_MAY_BE_LESS : may_cost ? WORK_IS_NO_LESS : WORK_IS_EQUAL;
}

// The rule with the condition that these variables are weights.
static const struct rule *for_weights(const struct rule *r, uint32_t weights, struct arena *a)
{
    struct rule *kept = arena_copy_array(a, r, 1);
    struct condition *conditions = arena_array(a, struct condition, r->n_conditions + MAX_RULE_VARIABLES);
    if (r->n_conditions)
        memcpy(conditions, r->conditions, r->n_conditions * sizeof *conditions);
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        if ((weights & ~rule_weights(r)) >> v & 1)
            conditions[kept->n_conditions++] = (struct condition){.kind = CONDITION_WEIGHT, .variable = v};
    kept->conditions = conditions;
    return kept;
}

static bool holds_over_field(const struct candidate *c)
{
    return ALL(size_t, i, c->examples.items.count, example_holds_over_field(&c->examples.items.items[i]));
}

static enum rule_use judge_use(struct candidate *c, uint32_t *ret_weights)
{
    *ret_weights = 0;
    if (c->examples.items.count == 0)
        return RULE_HAS_NO_EXAMPLE;
    enum work_order order = compare_sides(c, ret_weights);
    if (order == WORK_MAY_BE_LESS && !holds_over_field(c))
        return RULE_IS_REFUSED;
    return order == WORK_MAY_BE_LESS ? RULE_IS_KEPT : order == WORK_IS_EQUAL ? RULE_ONLY_MOVES : RULE_ONLY_COSTS;
}

static int count_coincidences(const struct rule *r)
{
    int reads[MAX_RULE_NODES * MAX_RULE_OUTPUTS + MAX_RULE_VARIABLES] = {0}, count = 0;
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        for (uint32_t i = 0; i < r->pattern.nodes.items[n].n_inputs; i++) {
            term_id term = r->pattern.nodes.items[n].inputs[i];
            const struct term *t = &r->pattern.terms.items[term];
            bool is_constant = !t->is_variable && r->pattern.nodes.items[t->index].n_inputs == 0;
            bool is_read_twice = i > 0 && r->pattern.nodes.items[n].inputs[i - 1] == term;
            count += is_constant ? 0 : (reads[term]++ > 0) + is_read_twice;
        }
    return count;
}

// The source's nodes that a chain of shared tensors connects with the first.
static bool is_connected(const struct rule *r)
{
    const struct pattern *p = &r->pattern;
    uint64_t variables = 0, nodes = 1, before;
    do {
        before = variables ^ nodes << 16;
        for (uint32_t n = 0; n < r->n_source_nodes; n++)
            for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
                const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
                bool is_in = nodes >> n & 1 || (t->is_variable ? variables >> t->index & 1 : nodes >> t->index & 1);
                nodes |= is_in ? (uint64_t)1 << n : 0;
                *(t->is_variable ? &variables : &nodes) |= is_in ? (uint64_t)1 << t->index : 0;
            }
    } while ((variables ^ nodes << 16) != before);
    return nodes == ((uint64_t)1 << r->n_source_nodes) - 1;
}

static enum rule_use judge_form(const struct rule *r, int max_coincidences)
{
    if (!is_connected(r))
        return RULE_IS_APART;
    return count_coincidences(r) > max_coincidences ? RULE_IS_A_COINCIDENCE : RULE_IS_KEPT;
}

static void work_out(struct candidate *c, struct typing *typing)
{
    examples_make(&c->examples, c->rule, typing);
    size_t n = c->examples.items.count;
    c->sources = arena_array(&c->examples.arena, struct work, n + 1);
    c->targets = arena_array(&c->examples.arena, struct work, n + 1);
    for (size_t i = 0; i < n; i++) {
        c->sources[i] = work_of_graph(&c->examples.items.items[i].source, &c->examples.arena);
        c->targets[i] = work_of_graph(&c->examples.items.items[i].target, &c->examples.arena);
    }
}

static void judge_candidate(struct selecting *s, struct candidate *c, struct typing *typing)
{
    uint32_t weights;
    c->use = c->is_written ? RULE_IS_KEPT : judge_form(c->rule, s->options->max_coincidences);
    if (c->is_written || c->use != RULE_IS_KEPT)
        return;
    work_out(c, typing);
    c->use = judge_use(c, &weights);
    if (c->use != RULE_IS_KEPT) {
        examples_free(&c->examples);
        return;
    }
#pragma omp critical
    c->rule = weights ? for_weights(c->rule, weights, s->options->arena) : c->rule;
    examples_set_weights(&c->examples, rule_weights(c->rule));
}

static void judge_uses(struct selecting *s)
{
    int threads = s->options->threads ? s->options->threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    {
        struct typing typing FREED_BY(typing_free);
        typing_init(&typing);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < s->n; i++)
            judge_candidate(s, &s->candidates[i], &typing);
    }
}

// --- what can match --------------------------------------------------------------------------------------------------
// Models have no operators of rules. Where they stand after rewriting follows from where targets have them, and from
// what may stand for the variables.

static bool is_of_rules(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    return !t->is_variable && p->nodes.items[t->index].op->flags & OPERATOR_IS_OF_RULES;
}

static bool can_match(const struct selecting *s, const struct rule *r)
{
    const struct pattern *p = &r->pattern;
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            term_id term = p->nodes.items[n].inputs[i];
            if (is_of_rules(p, term) &&
                !s->is_made[p->nodes.items[p->terms.items[term].index].op->id][p->nodes.items[n].op->id])
                return false;
        }
    return ALL(uint32_t, i, r->n_outputs,
               !is_of_rules(p, r->sources[i]) ||
                   s->is_made[p->nodes.items[p->terms.items[r->sources[i]].index].op->id][OUTPUT]);
}

// May the operator of rules stand for the variable, as far as the source's readers of it tell?
static bool may_stand_for(const struct selecting *s, const struct rule *r, uint32_t variable, int op)
{
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        for (uint32_t i = 0; i < r->pattern.nodes.items[n].n_inputs; i++) {
            const struct term *t = &r->pattern.terms.items[r->pattern.nodes.items[n].inputs[i]];
            if (t->is_variable && t->index == variable && !s->is_made[op][r->pattern.nodes.items[n].op->id])
                return false;
        }
    return true;
}

static bool note_made(struct selecting *s, int op, int reader)
{
    bool is_new = !s->is_made[op][reader];
    s->is_made[op][reader] = true;
    for (int other = 0; reader == OUTPUT && other < operator_count(); other++)
        s->is_made[op][other] = true;
    s->is_made[op][OUTPUT] = true;
    return is_new;
}

// The reader's input is this term of a target.
static bool note_read(struct selecting *s, const struct rule *r, term_id term, int reader)
{
    const struct term *t = &r->pattern.terms.items[term];
    bool is_new = false;
    if (is_of_rules(&r->pattern, term))
        return note_made(s, r->pattern.nodes.items[t->index].op->id, reader);
    for (int op = 0; t->is_variable && op < operator_count(); op++)
        if (operators[op]->flags & OPERATOR_IS_OF_RULES && s->is_made[op][OUTPUT] && may_stand_for(s, r, t->index, op))
            is_new = note_made(s, op, reader) || is_new;
    return is_new;
}

static bool note_what_is_made(struct selecting *s, const struct rule *r)
{
    bool is_new = false;
    for (size_t n = r->n_source_nodes; n < r->pattern.nodes.count; n++)
        for (uint32_t i = 0; i < r->pattern.nodes.items[n].n_inputs; i++)
            is_new = note_read(s, r, r->pattern.nodes.items[n].inputs[i], r->pattern.nodes.items[n].op->id) || is_new;
    for (uint32_t i = 0; i < r->n_outputs; i++)
        is_new = note_read(s, r, r->targets[i], OUTPUT) || is_new;
    return is_new;
}

static void drop_what_cannot_match(struct selecting *s)
{
    bool is_new = true;
    while (is_new) {
        is_new = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->candidates[i].use == RULE_IS_KEPT && can_match(s, s->candidates[i].rule))
                is_new = note_what_is_made(s, s->candidates[i].rule) || is_new;
    }
    for (size_t i = 0; i < s->n; i++)
        if (may_be_dropped(&s->candidates[i]) && !can_match(s, s->candidates[i].rule)) {
            s->candidates[i].use = RULE_NEVER_MATCHES;
            examples_free(&s->candidates[i].examples);
        }
}

// --- what follows from others ----------------------------------------------------------------------------------------

struct looking {
    const struct candidate *candidate;
    size_t example;
    struct arena scratch;
};

static bool never_costs_more(struct looking *l, const struct graph *g)
{
    ARENA_MARK(mark, &l->scratch);
    struct work work = work_of_graph(g, &l->scratch);
    uint32_t weights = rule_weights(l->candidate->rule);
    bool is_good = true;
    do
        is_good = work_is_at_most(&work, &l->candidate->targets[l->example], weights);
    while (is_good && next_weights(l->candidate->rule, &weights));
    return is_good;
}

static bool is_as_good_as_target(void *context, const struct graph *g)
{
    struct looking *l = context;
    return graph_equal(g, &l->candidate->examples.items.items[l->example].target) || never_costs_more(l, g);
}

static bool is_derived(const struct selecting *s, const struct candidate *c, const struct rule *const *rules, size_t n)
{
    struct reach reach = {rules, n, s->options->max_steps, s->options->max_graphs};
    struct looking l = {.candidate = c};
    bool is_derived = c->examples.items.count > 0;
    for (size_t i = 0; i < c->examples.items.count && is_derived; i++) {
        l.example = i;
        is_derived = reach_visit(&reach, &c->examples.items.items[i].source, is_as_good_as_target, &l, NULL);
    }
    arena_free(&l.scratch);
    return is_derived;
}

// The kept ones other than this one that may stand in its place: nothing that was only tested does for what is proved.
static size_t collect_kept(const struct selecting *s, size_t end, size_t except, const struct rule **ret_rules)
{
    bool wants_proved = rule_claims_proof(s->candidates[except].rule);
    size_t n = 0;
    for (size_t i = 0; i < end; i++)
        if (s->candidates[i].use == RULE_IS_KEPT && i != except &&
            (!wants_proved || rule_claims_proof(s->candidates[i].rule)))
            ret_rules[n++] = s->candidates[i].rule;
    return n;
}

static void drop_what_follows(struct selecting *s)
{
    LOCAL_ARRAY(const struct rule *, rules, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        if (may_be_dropped(&s->candidates[i]) && is_derived(s, &s->candidates[i], rules, collect_kept(s, i, i, rules)))
            s->candidates[i].use = RULE_IS_DERIVED;
    for (size_t i = s->n; i-- > 0;)
        if (may_be_dropped(&s->candidates[i]) &&
            is_derived(s, &s->candidates[i], rules, collect_kept(s, s->n, i, rules)))
            s->candidates[i].use = RULE_IS_DERIVED;
}

// --- all of it -------------------------------------------------------------------------------------------------------

int rule_compare_sizes(const struct rule *x, const struct rule *y)
{
    if (x->pattern.nodes.count != y->pattern.nodes.count)
        return x->pattern.nodes.count < y->pattern.nodes.count ? -1 : 1;
    if (x->pattern.n_attribute_variables != y->pattern.n_attribute_variables)
        return x->pattern.n_attribute_variables > y->pattern.n_attribute_variables ? -1 : 1;
    return strcmp(x->name, y->name);
}

COMPARISON(compare_candidates, struct candidate, rule_compare_sizes(x->rule, y->rule))

void selection_make(struct selection *s, const struct rule_set *set)
{
    struct selecting all = {.options = s, .n = set->rules.count};
    s->n = all.n;
    s->uses = mem_new_array(enum rule_use, s->n + 1);
    s->rules = mem_new_array(const struct rule *, s->n + 1);
    all.candidates = mem_alloc_zero((all.n + 1) * sizeof *all.candidates);
    for (size_t i = 0; i < all.n; i++)
        all.candidates[i] =
            (struct candidate){.rule = set->rules.items[i], .number = (uint32_t)i, .is_written = i >= s->n_generated};
    qsort(all.candidates, all.n, sizeof *all.candidates, compare_candidates);
    judge_uses(&all);
    drop_what_cannot_match(&all);
    drop_what_follows(&all);
    EACH(all.candidates, all.n, c) {
        s->uses[c->number] = c->use;
        s->rules[c->number] = c->rule;
        if (!c->is_written && (c->use == RULE_IS_KEPT || c->use == RULE_IS_DERIVED))
            examples_free(&c->examples);
    }
    mem_free(all.candidates, (all.n + 1) * sizeof *all.candidates);
}

void selection_free(struct selection *s)
{
    mem_free_array(s->uses, s->n + 1);
    mem_free_array(s->rules, s->n + 1);
}
