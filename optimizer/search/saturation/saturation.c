// The steps: a graph into an e-graph, exploration, extraction, whole graphs priced, and if one is better, how it came
// about; and so on from that one.
#include "optimizer/search/saturation/saturation.h"

#include "core/memory/hash.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "egraph/convert.h"
#include "egraph/explain.h"
#include "optimizer/search/saturation/extraction_problem.h"
#include "optimizer/search/translation_validation.h"
#include <math.h>

// --- derivations -----------------------------------------------------------------------------------------------------
// The applications of rules that lead from one choice of e-nodes to another one, read from the proof forest: what
// united them, what united the children that these applications found equal, and so on down.
// Pairs of e-nodes that are to be explained wait in a list; each edge of the forest between the two adds what it takes
// for granted: congruent nodes have equal children, and an application found e-nodes for the terms of its rule in the
// classes of what was read.

struct derivation {
    VEC(uint32_t) applications;   // of the exploration, in the order in which they were made
};

struct pair {
    enode_id a, b;
};
struct explaining {
    const struct exploration *x;
    const struct egraph *e;
    struct derivation *d;
    VEC(struct pair) pairs;   // those before `next` were explained
    size_t next;
    struct table seen;
    bool *is_used;   // of every application
};

static bool is_same_pair(const void *owner, uint32_t id, const void *key)
{
    const struct pair *known = &((const struct explaining *)owner)->pairs.items[id], *asked = key;
    return known->a == asked->a && known->b == asked->b;
}

static void add_pair(struct explaining *ex, enode_id a, enode_id b)
{
    struct pair p = {a < b ? a : b, a < b ? b : a};
    uint64_t hash = hash_mix(p.a, p.b);
    if (a == b || table_find(&ex->seen, hash, is_same_pair, ex, &p) != TABLE_NONE)
        return;
    table_insert(&ex->seen, hash, (uint32_t)ex->pairs.count);
    vec_push(&ex->pairs, p);
}

static bool is_commutative(const struct egraph *e, enode_id n)
{
    const struct operator* op = egraph_operator(e, n);
    return op && (op->flags & OPERATOR_IS_COMMUTATIVE) && e->nodes.items[n].n_children == 2;
}

// The children of a node are these, in either order where it commutes.
static void add_children(struct explaining *ex, enode_id n, const enode_id *others)
{
    const struct eedge *edges = egraph_edges(ex->e, n);
    bool is_swapped = is_commutative(ex->e, n) && egraph_find(ex->e, others[0]) != egraph_find(ex->e, edges[0].first);
    for (uint32_t i = 0; i < ex->e->nodes.items[n].n_children; i++)
        add_pair(ex, edges[i].first, others[is_swapped ? 1 - i : i]);
}

static void add_congruence(struct explaining *ex, enode_id x, enode_id y)
{
    uint32_t n_children = ex->e->nodes.items[y].n_children;
    LOCAL_ARRAY(enode_id, others, n_children + 1);
    for (uint32_t i = 0; i < n_children; i++)
        others[i] = egraph_edges(ex->e, y)[i].first;
    add_children(ex, x, others);
}

static void add_application(struct explaining *ex, uint32_t application)
{
    const struct eapplication *a = &ex->x->applications.items[application];
    const struct rule *r = ex->x->rules->rules.items[a->rule];
    if (ex->is_used[application])
        return;
    ex->is_used[application] = true;
    vec_push(&ex->d->applications, application);
    for (uint32_t n = 0; n < r->pattern.nodes.count; n++) {
        const struct pattern_node *pattern = &r->pattern.nodes.items[n];
        enode_id others[MAX_RULE_VARIABLES];
        for (uint32_t i = 0; i < pattern->n_inputs; i++)
            others[i] = exploration_term(ex->x, a, pattern->inputs[i]);
        add_children(ex, exploration_node(ex->x, a, n), others);
    }
    for (term_id t = 0; t < r->pattern.terms.count; t++) {
        const struct term *term = &r->pattern.terms.items[t];
        enode_id made = exploration_term(ex->x, a, t);
        if (!term->is_variable && ex->e->nodes.items[made].op == PROJECTION)
            add_pair(ex, egraph_edges(ex->e, made)[0].first, exploration_node(ex->x, a, term->index));
    }
}

static void add_edge(void *context, enode_id x, enode_id y, uint32_t reason)
{
    struct explaining *ex = context;
    if (reason == REASON_CONGRUENCE)
        add_congruence(ex, x, y);
    else
        add_application(ex, reason);
}

// Pairs from the outputs down: what was chosen for a class against the e-node by which it was reached.
static void add_choice(struct explaining *ex, const enode_id *choice, const enode_id *outputs, size_t n_outputs)
{
    LOCAL_ZEROS(bool, is_reached, ex->e->nodes.count + 1);
    LOCAL_VEC(enode_id, waiting);
    for (size_t i = 0; i < n_outputs; i++)
        vec_push(&waiting, outputs[i]);
    while (waiting.count) {
        enode_id n = vec_pop(&waiting), chosen = choice[egraph_find(ex->e, n)];
        add_pair(ex, n, chosen);
        if (is_reached[chosen])
            continue;
        is_reached[chosen] = true;
        for (uint32_t i = 0; i < ex->e->nodes.items[chosen].n_children; i++)
            vec_push(&waiting, egraph_edges(ex->e, chosen)[i].first);
    }
}

COMPARISON(compare_numbers, uint32_t, ORDER(*x, *y))

// Why what `choice` (of every class) makes of the outputs' classes is equal to the outputs. All unions are by rules.
static void derivation_find(struct derivation *d, const struct exploration *x, const enode_id *choice,
                            const enode_id *outputs, size_t n_outputs)
{
    struct explaining ex = {.x = x, .e = x->e, .d = d};
    *d = (struct derivation){0};
    ex.is_used = mem_alloc_zero(x->applications.count + 1);
    add_choice(&ex, choice, outputs, n_outputs);
    for (; ex.next < ex.pairs.count; ex.next++) {
        struct pair p = ex.pairs.items[ex.next];
        egraph_explain(x->e, p.a, p.b, add_edge, &ex);
    }
    vec_sort(&d->applications, compare_numbers);
    mem_free(ex.is_used, x->applications.count + 1);
    vec_free(&ex.pairs);
    table_free(&ex.seen);
}

static void derivation_free(struct derivation *d)
{
    vec_free(&d->applications);
}

// --- saturation ------------------------------------------------------------------------------------------------------

const struct saturation_options saturation_standard_options = {
    .exploration = {.most_nodes = 50000,
                    .rounds = 15,
                    .k_multi = 2,
                    .most_matches = 1000,
                    .ban = 5,
                    .filtering = CYCLES_EFFICIENT},
    .extraction = {.branches = 300},
    .least_gain = 0.0001,
    .most_egraphs = 20,
    .most_unknown = UINT32_MAX,
};

// A graph that was come to, how, and what the e-graph told that began with it last.
struct reached {
    struct graph graph;
    double seconds;
    VEC(struct search_step) steps;   // from the original
    struct egraph_figures last;
};

struct saturation {
    const struct saturation_options *options;
    const struct cost_model *cost;
    const struct rule_set *rules;
    struct search_result *found;   // what the former search found; gets figures, and rules that are refuted
    struct reached *at;            // where the e-graph begins
    double deadline;               // INFINITY: none
    uint32_t rounds;               // of the e-graph
    uint32_t unknown_left;         // e-nodes that may still be measured
    struct egraph e;
    struct egraph_origins origins;
    struct exploration x;
    VEC(enode_id) outputs;
};

// --- rules -----------------------------------------------------------------------------------------------------------

static bool is_rule_used(void *context, const struct rule *r)
{
    const struct saturation *s = context;
    return (!s->options->is_chosen || s->options->is_chosen[r->number]) &&
           ALL(size_t, i, s->found->refuted.count, s->found->refuted.items[i] != r);
}

static bool is_interrupted(void *context)
{
    return interrupt_requested();
}

static bool has_equal_sides(void *context, const struct match *m, const struct graph *g)
{
    enum verdict verdict = validator_judge(context, m, g);
    return verdict != VERDICT_DIFFERENT && verdict != VERDICT_NOT_GENERAL && verdict != VERDICT_NOT_EXACT &&
           (verdict != VERDICT_TOO_COSTLY || verdict_is_left_to_proof(verdict, m->rule));
}

// --- the e-graph -----------------------------------------------------------------------------------------------------

static void add_graph(struct saturation *s)
{
    const struct graph *g = &s->at->graph;
    LOCAL_ARRAY(enode_id, ids, g->tensors.count + 1);
    egraph_add_graph(&s->e, g, ids);
    egraph_origins_init(&s->origins, &s->e, g, ids);
    for (size_t i = 0; i < g->outputs.count; i++)
        vec_push(&s->outputs, ids[g->outputs.items[i]]);
}

static double seconds_left(const struct saturation *s)
{
    return isfinite(s->deadline) ? fmax(s->deadline - clock_seconds(), 1e-3) : 0;
}

static void explore(struct saturation *s)
{
    struct exploration_options options = s->options->exploration;
    options.is_used = is_rule_used;
    options.context = s;
    options.rounds = s->rounds;
    options.seconds = seconds_left(s);
    exploration_init(&s->x, &s->e, s->rules, &options);
    exploration_run(&s->x);
}

// --- the best graph --------------------------------------------------------------------------------------------------

static bool build(const struct saturation *s, const struct candidate *c, struct graph *ret_graph)
{
    graph_init(ret_graph, s->at->graph.arena);
    return egraph_build_graph(&s->e, c->choice, &s->origins, s->outputs.items, s->outputs.count, ret_graph);
}

// Costs that have to be measured are for the one that seems to be cheapest of those that little has to be
// measured for: an estimate of much that is unknown says little. NULL: there is none.
static const struct candidate *choose_measured(struct saturation *s, const struct candidates *all)
{
    const struct candidate *chosen = candidates_find_cheapest(all, s->unknown_left);
    if (chosen && s->unknown_left != UINT32_MAX)
        s->unknown_left -= chosen->n_unknown;
    return chosen;
}

static double price(const struct saturation *s, const struct candidate *c, bool is_measured)
{
    const struct cost_model *cost = s->cost;
    struct graph g FREED_BY(graph_free);
    double seconds = INFINITY;
    if (build(s, c, &g) && graph_is_within(&g, &s->options->weights))
        seconds = (is_measured ? cost->graph_seconds : cost->known_seconds)(cost->context, &g);
    return isnan(seconds) ? INFINITY : seconds;
}

// Priced as a whole; others than the measured one if that is known. NULL: none is cheaper than the graph that the
// e-graph began with by enough.
static const struct candidate *find_best(struct saturation *s, const struct candidates *all, double *ret_seconds)
{
    const struct candidate *best = NULL, *measured = s->cost->known_seconds ? choose_measured(s, all) : NULL;
    double least = s->at->seconds * (1 - s->options->least_gain);
    vec_each(&all->items, c) {
        double seconds = price(s, c, c == measured || !s->cost->known_seconds);
        s->found->saturation.graphs_priced++;
        if (seconds < least) {
            best = c;
            least = *ret_seconds = seconds;
        }
    }
    return best;
}

// Nothing is known of the gain of single applications: the last one has all of it.
static void add_steps(struct saturation *s, const struct derivation *d, double seconds)
{
    for (size_t i = 0; i < d->applications.count; i++) {
        const struct eapplication *a = &s->x.applications.items[d->applications.items[i]];
        bool is_last = i + 1 == d->applications.count;
        vec_push(&s->at->steps,
                 ((struct search_step){s->rules->rules.items[a->rule], is_last ? seconds : s->at->seconds}));
    }
}

static void adopt(struct saturation *s, const struct candidate *best, const struct derivation *d, double seconds)
{
    struct graph g;
    add_steps(s, d, seconds);
    build(s, best, &g);
    graph_free(&s->at->graph);
    s->at->graph = g;
    s->at->seconds = seconds;
    s->found->statistics.adopted++;
}

static void add_refuted(struct saturation *s)
{
    struct search_result one = {0};
    for (size_t i = 0; i < s->rules->rules.count; i++)
        if (s->x.of_rules.items[i].is_refuted)
            vec_push(&one.refuted, s->rules->rules.items[i]);
    search_result_add_refuted(s->found, &one);
    vec_free(&one.refuted);
}

// Rules that an application refutes, at the shapes at which it was made, are not used any more.
static bool is_validated(struct saturation *s, const struct derivation *d)
{
    size_t before = s->found->refuted.count;
    for (size_t i = 0; s->options->validator && i < d->applications.count; i++) {
        uint32_t application = d->applications.items[i];
        if (!exploration_validate(&s->x, application, has_equal_sides, s->options->validator))
            s->x.of_rules.items[s->x.applications.items[application].rule].is_refuted = true;
    }
    add_refuted(s);
    return s->found->refuted.count == before;
}

// --- figures ---------------------------------------------------------------------------------------------------------

static void add_figures(struct saturation *s, const struct candidates *all)
{
    struct saturation_figures *f = &s->found->saturation;
    f->egraphs++;
    f->unions += s->e.n_unions;
    f->cycles_prevented += s->x.statistics.n_prevented;
    f->cycles_resolved += s->x.statistics.n_resolved;
    f->seconds_exploring += s->x.statistics.seconds;
    f->seconds_pricing += all->seconds_pricing;
    f->seconds_extracting += all->seconds_extracting;
    for (size_t i = 0; i < s->rules->rules.count; i++) {
        s->found->unions.items[i] += s->x.of_rules.items[i].unions;
        f->matches += s->x.of_rules.items[i].matches;
    }
    s->at->last = (struct egraph_figures){
        .rounds = s->x.rounds.count,
        .nodes = s->e.n_live,
        .classes = s->e.n_classes,
        .end = exploration_end_names[s->x.end],
        .bound = all->bound,
        .extracted = all->best,
    };
}

static void note_trajectory(struct saturation *s, double started)
{
    struct search_statistics *statistics = &s->found->statistics;
    statistics->seconds += clock_seconds() - started;
    vec_push(&s->found->trajectory,
             ((struct search_point){statistics->expanded, statistics->seconds, s->found->seconds_after}));
}

// --- one e-graph after the other -------------------------------------------------------------------------------------

static void begin(struct saturation *s)
{
    egraph_init(&s->e);
    add_graph(s);
    explore(s);
}

static void end(struct saturation *s)
{
    exploration_free(&s->x);
    egraph_origins_free(&s->origins);
    egraph_free(&s->e);
    vec_free(&s->outputs);
}

enum outcome { NOTHING_BETTER, BETTER, REFUTED };

// REFUTED: a rule was, by its part in what was extracted, which is not taken then.
static enum outcome extract(struct saturation *s)
{
    struct derivation d FREED_BY(derivation_free) = {0};
    struct candidates all FREED_BY(candidates_free);
    double seconds = INFINITY;
    struct extraction_budget budget = s->options->extraction;
    budget.is_interrupted = is_interrupted;
    budget.seconds = seconds_left(s);
    candidates_find(&all, &s->e, s->cost, &budget, s->outputs.items, s->outputs.count);
    const struct candidate *best = find_best(s, &all, &seconds);
    if (best)
        derivation_find(&d, &s->x, best->choice, s->outputs.items, s->outputs.count);
    bool is_right = is_validated(s, &d);
    if (is_right)
        add_figures(s, &all);
    if (best && is_right)
        adopt(s, best, &d, seconds);
    return !is_right ? REFUTED : best ? BETTER : NOTHING_BETTER;
}

static bool has_to_stop(const struct saturation *s)
{
    return interrupt_requested() || clock_seconds() >= s->deadline;
}

static enum outcome saturate(struct saturation *s)
{
    begin(s);
    enum outcome outcome = extract(s);
    end(s);
    return outcome;
}

// The graph that one e-graph gives is the beginning of the next: without all that led to nothing. Small e-graphs first,
// of which extraction takes the optimum; a larger one where they give nothing better, as long as there is one.
static void follow(struct saturation *s, struct reached *from)
{
    uint32_t most = s->options->exploration.rounds;
    bool is_larger = true;
    s->at = from;
    s->rounds = most ? 1 : 0;
    for (size_t n = 0; n < s->options->most_egraphs && is_larger; n++) {
        enum outcome outcome = saturate(s);
        is_larger = !has_to_stop(s);
        if (outcome == NOTHING_BETTER) {
            is_larger = is_larger && s->x.end == EXPLORATION_ROUNDS && s->rounds < most;
            s->rounds = 2 * s->rounds < most ? 2 * s->rounds : most;
        }
    }
}

static void reached_init(struct reached *r, const struct search_result *by)
{
    *r = (struct reached){.seconds = by->seconds_after};
    graph_copy(&r->graph, &by->graph);
    for (size_t i = 0; i < by->steps.count; i++)
        vec_push(&r->steps, by->steps.items[i]);
}

static void reached_free(struct reached *r)
{
    graph_free(&r->graph);
    vec_free(&r->steps);
}

static void keep(struct saturation *s, const struct reached *best)
{
    struct search_result *f = s->found;
    f->saturation.is_done = true;
    f->saturation.is_better = best->seconds < f->seconds_after;
    f->saturation.last = best->last;
    f->seconds_after = best->seconds;
    graph_free(&f->graph);
    graph_copy(&f->graph, &best->graph);
    vec_clear(&f->steps);
    for (size_t i = 0; i < best->steps.count; i++)
        vec_push(&f->steps, best->steps.items[i]);
    if (f->saturation.is_better)
        search_result_add_milestone(f, &f->graph);
}

void saturation_improve(struct search_result *found, const struct rule_set *rules, const struct cost_model *cost,
                        const struct saturation_options *options)
{
    struct saturation s = {.options = options, .cost = cost, .rules = rules, .found = found};
    struct reached best FREED_BY(reached_free);
    double started = clock_seconds(), limit = options->exploration.seconds;
    uint64_t checked = options->validator ? options->validator->checked : 0;
    s.unknown_left = options->most_unknown;
    s.deadline = limit > 0 ? started + limit : INFINITY;
    for (size_t i = 0; i < rules->rules.count; i++)
        vec_push(&found->unions, 0);
    reached_init(&best, found);
    follow(&s, &best);
    keep(&s, &best);
    found->statistics.validated += options->validator ? options->validator->checked - checked : 0;
    note_trajectory(&s, started);
}
