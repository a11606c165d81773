// A round: choose rules, search, judge what was found, ban, apply, rebuild, resolve cycles.
#include "egraph/explore.h"

#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/thread_pool.h"
#include <string.h>
#include <unistd.h>

#define MOST_OF_A_PIECE 4096   // candidates of one rule that begin at one piece of the nodes

const struct exploration_options exploration_standard_options = {
    .most_nodes = 50000,
    .rounds = 15,
    .k_multi = 1,
    .most_matches = 1000,
    .ban = 5,
    .filtering = CYCLES_EFFICIENT,
};
const char *const exploration_end_names[] = {"saturated", "rounds", "nodes", "memory", "time", "interrupted"};

void exploration_init(struct exploration *x, struct egraph *e, const struct rule_set *rules,
                      const struct exploration_options *options)
{
    *x = (struct exploration){.e = e, .rules = rules, .options = *options};
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n_threads = options->threads ? options->threads : n_cores > 1 ? (size_t)n_cores : 1;
    ematcher_init(&x->matcher, rules);
    instances_init(&x->instances, e, rules);
    ecycles_init(&x->cycles, e);
    x->team = n_threads > 1 ? thread_pool_new(n_threads) : NULL;
    for (size_t i = 0; i < rules->rules.count; i++)
        vec_push(&x->of_rules, ((struct exploration_rule){0}));
}

void exploration_free(struct exploration *x)
{
    ematcher_free(&x->matcher);
    instances_free(&x->instances);
    ecycles_free(&x->cycles);
    if (x->team)
        thread_pool_free(x->team);
    vecs_free(x, of_rules, rounds, applications, words);
}

// --- one application -------------------------------------------------------------------------------------------------

struct applying {
    struct exploration *x;
    struct exploration_rule *of_rule;
    const struct rule *r;
    uint32_t rule;
    const eclass_id *variables;
    const enode_id *nodes;
    const struct rule_instance *instance;
    enode_id of_nodes[MAX_RULE_NODES];   // applications
};

static enode_id node_of_term(struct applying *a, term_id term)
{
    const struct term *t = &a->r->pattern.terms.items[term];
    return t->is_variable ? a->variables[t->index] : egraph_add_output(a->x->e, a->of_nodes[t->index], t->output);
}

static bool target_is_variable(const struct rule *r, uint32_t output)
{
    return r->pattern.terms.items[r->targets[output]].is_variable;
}

static bool closes_a_cycle(struct applying *a, eclass_id variable, eclass_id source)
{
    struct ecycles *c = &a->x->cycles;
    return a->x->options.filtering == CYCLES_VANILLA ? ecycles_reaches(c, variable, source)
                                                     : ecycles_reached(c, variable, source);
}

static bool term_reads_variable(const struct rule *r, term_id term, uint32_t variable)
{
    const struct term *t = &r->pattern.terms.items[term];
    if (t->is_variable)
        return t->index == variable;
    const struct pattern_node *n = &r->pattern.nodes.items[t->index];
    return ANY(uint32_t, i, n->n_inputs, term_reads_variable(r, n->inputs[i], variable));
}

// Would what a target makes be read by what it reads? A target that is a variable makes nothing.
static bool makes_a_cycle(struct applying *a)
{
    for (uint32_t i = 0; i < a->r->n_outputs; i++) {
        const struct term *source = &a->r->pattern.terms.items[a->r->sources[i]];
        eclass_id class = egraph_find_output(a->x->e, a->nodes[source->index], source->output);
        for (uint32_t v = 0; !target_is_variable(a->r, i) && class != NO_ENODE && v < a->r->pattern.n_variables; v++)
            if (term_reads_variable(a->r, a->r->targets[i], v) && closes_a_cycle(a, a->variables[v], class))
                return true;
    }
    return false;
}

static void add_targets(struct applying *a)
{
    const struct rule *r = a->r;
    memcpy(a->of_nodes, a->nodes, r->n_source_nodes * sizeof *a->nodes);
    for (uint32_t n = r->n_source_nodes; n < r->pattern.nodes.count; n++) {
        const struct pattern_node *pattern = &r->pattern.nodes.items[n];
        const struct instance_node *target = &a->instance->targets[n - r->n_source_nodes];
        enode_id children[MAX_RULE_VARIABLES];
        for (uint32_t i = 0; i < pattern->n_inputs; i++)
            children[i] = node_of_term(a, pattern->inputs[i]);
        a->of_nodes[n] = egraph_add(a->x->e, target->op, target->attributes, target->type, pattern->n_inputs, children);
    }
}

static void record(struct applying *a)
{
    struct exploration *x = a->x;
    vec_push(&x->applications, ((struct eapplication){a->rule, (uint32_t)x->words.count}));
    for (term_id t = 0; t < a->r->pattern.terms.count; t++)
        vec_push(&x->words, node_of_term(a, t));
    for (uint32_t n = 0; n < a->r->pattern.nodes.count; n++)
        vec_push(&x->words, a->of_nodes[n]);
}

static void unite_outputs(struct applying *a)
{
    uint32_t reason = (uint32_t)a->x->applications.count;
    bool is_new = false;
    for (uint32_t i = 0; i < a->r->n_outputs && !a->of_rule->is_refuted; i++) {
        enode_id source = node_of_term(a, a->r->sources[i]), target = node_of_term(a, a->r->targets[i]);
        enum union_result result = egraph_union(a->x->e, source, target, reason);
        is_new = is_new || result == UNION_NEW;
        a->of_rule->unions += result == UNION_NEW;
        a->of_rule->is_refuted = result == UNION_OTHER_TYPE;
    }
    if (is_new)
        record(a);
}

static void apply(struct applying *a)
{
    if (a->x->options.filtering != CYCLES_KEPT && makes_a_cycle(a)) {
        a->x->statistics.n_prevented++;
        return;
    }
    add_targets(a);
    unite_outputs(a);
}

// --- a round ---------------------------------------------------------------------------------------------------------

static bool is_banned(const struct exploration *x, size_t rule)
{
    return x->round < x->of_rules.items[rule].banned_until;
}

// Rules with several outputs are used in some of the rounds of a run, the others in all.
static void choose_rules(const struct exploration *x, uint32_t round, bool *ret_used)
{
    for (size_t i = 0; i < x->rules->rules.count; i++) {
        const struct rule *r = x->rules->rules.items[i];
        bool has_turn = r->n_outputs == 1 || round < x->options.k_multi;
        ret_used[i] = has_turn && !is_banned(x, i) && !x->of_rules.items[i].is_refuted &&
                      (!x->options.is_used || x->options.is_used(x->options.context, r));
    }
}

static bool *mark_roots(const struct exploration *x)
{
    size_t n = x->e->nodes.count;
    bool *is_root = x->options.is_root ? mem_new_array(bool, n + 1) : NULL;
    for (enode_id i = 0; is_root && i < n; i++)
        is_root[i] = x->options.is_root(x->options.context, i);
    return is_root;
}

static void search_rules(struct exploration *x, const bool *is_used, ematches *ret_matches, bool *ret_is_cut)
{
    double started = clock_seconds();
    size_t n_nodes = x->e->nodes.count, n_rules = x->rules->rules.count;
    struct eindex index FREED_BY(eindex_free);
    bool *is_root = mark_roots(x);
    LOCAL_ARRAY(uint32_t, since, n_rules + 1);
    for (size_t i = 0; i < n_rules; i++)
        since[i] = x->of_rules.items[i].since;
    eindex_init(&index, x->e);
    struct ematch_search s = {.matcher = &x->matcher,
                              .index = &index,
                              .is_used = is_used,
                              .since = since,
                              .is_root = is_root,
                              .most_of_rule = MOST_OF_A_PIECE,
                              .team = x->team,
                              .may_share = x->options.may_share};
    ematch_search(&s, ret_matches, ret_is_cut);
    if (is_root)
        mem_free_array(is_root, n_nodes + 1);
    x->statistics.seconds_searching += clock_seconds() - started;
}

static size_t words_of_match(const struct rule *r)
{
    return 1 + r->pattern.n_variables + r->n_source_nodes;
}

static void begin_match(struct exploration *x, const uint32_t *words, struct applying *ret)
{
    *ret = (struct applying){.x = x, .rule = words[0], .r = x->rules->rules.items[words[0]]};
    ret->of_rule = &x->of_rules.items[words[0]];
    ret->variables = words + 1;
    ret->nodes = words + 1 + ret->r->pattern.n_variables;
}

static uint32_t doubled(uint32_t value, uint32_t times)
{
    return times > 16 ? UINT32_MAX / 2 : value << times;
}

static bool is_too_often(const struct exploration *x, size_t rule, uint32_t n_matches)
{
    return x->options.most_matches && n_matches > doubled(x->options.most_matches, x->of_rules.items[rule].bans);
}

// Keeps those that hold, in place. Of a rule that is going to be banned the others are not asked about.
static void keep_what_holds(struct exploration *x, ematches *matches, uint32_t *ret_counts)
{
    size_t kept = 0, size;
    for (size_t i = 0; i < matches->count; i += size) {
        struct applying a;
        begin_match(x, matches->items + i, &a);
        size = words_of_match(a.r);
        if (is_too_often(x, a.rule, ret_counts[a.rule]))
            continue;
        const struct rule_instance *instance = instances_find(&x->instances, a.rule, a.variables, a.nodes);
        if (instance->state != INSTANCE_APPLIES)
            continue;
        memmove(matches->items + kept, matches->items + i, size * sizeof *matches->items);
        kept += size;
        ret_counts[a.rule]++;
    }
    matches->count = kept;
}

// Rules that matched too often are banned, and what they matched is not applied. The next round takes up what this one
// leaves: the others have seen everything.
static void ban_rules(struct exploration *x, const bool *is_used, const bool *is_cut, const uint32_t *counts)
{
    for (size_t i = 0; i < x->rules->rules.count; i++) {
        struct exploration_rule *of = &x->of_rules.items[i];
        of->matches += is_used[i] ? counts[i] : 0;
        if (is_too_often(x, i, counts[i])) {
            of->banned_until = x->round + 1 + doubled(x->options.ban, of->bans);
            of->bans++;
        } else if (is_used[i] && !is_cut[i]) {
            of->since = x->round;
        }
    }
}

// False: the e-graph is full.
static bool apply_matches(struct exploration *x, const ematches *matches)
{
    size_t size;
    for (size_t i = 0; i < matches->count; i += size) {
        struct applying a;
        begin_match(x, matches->items + i, &a);
        size = words_of_match(a.r);
        if (is_banned(x, a.rule) || a.of_rule->is_refuted)
            continue;
        if (x->e->nodes.count >= x->options.most_nodes)
            return false;
        a.instance = instances_find(&x->instances, a.rule, a.variables, a.nodes);
        apply(&a);
    }
    return true;
}

static void resolve_cycles(struct exploration *x, struct exploration_round *round)
{
    double started = clock_seconds();
    if (x->options.filtering == CYCLES_KEPT)
        return;
    round->n_filtered = (uint32_t)ecycles_resolve(&x->cycles, x->e);
    x->statistics.n_resolved += round->n_filtered;
    x->statistics.seconds_cycles += clock_seconds() - started;
}

struct round {
    ematches matches;
    bool *is_used, *is_cut;
    uint32_t *counts;
    struct arena arena;   // of these
};

static void round_init(struct round *r, size_t n_rules)
{
    *r = (struct round){.matches = {0}};
    r->is_used = arena_array(&r->arena, bool, n_rules + 1);
    r->is_cut = arena_array(&r->arena, bool, n_rules + 1);
    r->counts = arena_array(&r->arena, uint32_t, n_rules + 1);
}

static void round_free(struct round *r)
{
    arena_free(&r->arena);
    vec_free(&r->matches);
}

static bool is_anything_banned(const struct exploration *x)
{
    return ANY(size_t, i, x->rules->rules.count, x->of_rules.items[i].banned_until > x->round + 1);
}

// False: it is the last one.
static bool explore_once(struct exploration *x, uint32_t number)
{
    struct round r FREED_BY(round_free);
    struct exploration_round told = {0};
    double started = clock_seconds();
    size_t nodes = x->e->nodes.count, unions = x->e->n_unions;
    round_init(&r, x->rules->rules.count);
    x->e->epoch = ++x->round;
    choose_rules(x, number, r.is_used);
    search_rules(x, r.is_used, &r.matches, r.is_cut);
    keep_what_holds(x, &r.matches, r.counts);
    ban_rules(x, r.is_used, r.is_cut, r.counts);
    bool has_room = apply_matches(x, &r.matches);
    egraph_rebuild(x->e);
    resolve_cycles(x, &told);
    for (size_t i = 0; i < x->rules->rules.count; i++)
        told.n_matches += r.counts[i];
    told.n_unions = (uint32_t)(x->e->n_unions - unions);
    told.n_nodes = (uint32_t)x->e->n_live;
    told.n_classes = (uint32_t)x->e->n_classes;
    told.seconds = clock_seconds() - started;
    vec_push(&x->rounds, told);
    if (!has_room)
        x->end = EXPLORATION_NODES;
    return has_room &&
           (told.n_unions || x->e->nodes.count > nodes || is_anything_banned(x) || number < x->options.k_multi);
}

static bool has_to_stop(struct exploration *x, uint32_t number, double started)
{
    const struct exploration_options *o = &x->options;
    enum exploration_end before = x->end;
    x->end = interrupt_requested()                                      ? EXPLORATION_INTERRUPTED
             : o->seconds > 0 && clock_seconds() - started > o->seconds ? EXPLORATION_TIME
             : o->most_memory && egraph_memory(x->e) > o->most_memory   ? EXPLORATION_MEMORY
             : number >= o->rounds                                      ? EXPLORATION_ROUNDS
                                                                        : before;
    return x->end != before;
}

void exploration_run(struct exploration *x)
{
    double started = clock_seconds();
    struct exploration_round ignored;
    x->end = EXPLORATION_SATURATED;
    resolve_cycles(x, &ignored);
    for (uint32_t number = 0; !has_to_stop(x, number, started) && explore_once(x, number); number++)
        continue;
    x->statistics.seconds += clock_seconds() - started;
}

bool exploration_validate(struct exploration *x, uint32_t application, instance_validation *is_right, void *context)
{
    const struct eapplication *a = &x->applications.items[application];
    const struct rule *r = x->rules->rules.items[a->rule];
    eclass_id variables[MAX_RULE_VARIABLES];
    enode_id nodes[MAX_RULE_NODES];
    for (term_id t = 0; t < r->pattern.terms.count; t++)
        if (r->pattern.terms.items[t].is_variable)
            variables[r->pattern.terms.items[t].index] = exploration_term(x, a, t);
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        nodes[n] = exploration_node(x, a, n);
    return instances_validate(&x->instances, a->rule, variables, nodes, is_right, context);
}
