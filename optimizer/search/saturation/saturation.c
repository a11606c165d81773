// The steps: both graphs into one e-graph, exploration, extraction, whole graphs priced, and if one is better, how it
// came about.
#include "optimizer/search/saturation/saturation.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "egraph/convert.h"
#include "optimizer/search/saturation/candidates.h"
#include "optimizer/search/saturation/derivation.h"
#include "optimizer/search/translation_validation.h"
#include <math.h>
#include <string.h>

const struct saturation_options saturation_standard_options = {
    .exploration = {.most_nodes = 50000,
                    .rounds = 15,
                    .k_multi = 1,
                    .most_matches = 1000,
                    .ban = 5,
                    .filtering = CYCLES_EFFICIENT},
    .extraction =
        {.branches = 1000, .restarts = 40, .patience = 10, .ilp_nodes = 1000, .program_nodes = 1000, .seed = 1},
    .least_gain = 0.001,
};

struct saturation {
    const struct saturation_options *options;
    const struct graph *g;
    const struct cost_model *cost;
    const struct rule_set *rules;
    struct search_result *found;
    struct egraph e;
    struct egraph_origins origins;
    struct exploration x;
    VEC(enode_id) outputs;
};

// --- rules -----------------------------------------------------------------------------------------------------------

static bool is_rule_used(void *context, const struct rule *r)
{
    const struct saturation *s = context;
    const struct saturation_options *o = s->options;
    size_t n_target = r->pattern.nodes.count - r->n_source_nodes;
    size_t n_operators = n_target > r->n_source_nodes ? n_target : r->n_source_nodes;
    if (o->is_chosen && !o->is_chosen[r->number])
        return false;
    for (size_t i = 0; i < o->n_disabled; i++)
        if (strcmp(o->disabled[i], r->name) == 0)
            return false;
    for (size_t i = 0; i < s->found->refuted.count; i++)
        if (s->found->refuted.items[i] == r)
            return false;
    return o->max_rule_operators == 0 || n_operators <= o->max_rule_operators;
}

static bool is_interrupted(void *context)
{
    return interrupt_requested();
}

static bool has_equal_sides(void *context, const struct match *m, const struct graph *g)
{
    enum verdict verdict = validator_judge(context, m, g);
    return verdict != VERDICT_DIFFERENT && verdict != VERDICT_NOT_GENERAL;
}

// --- the e-graph -----------------------------------------------------------------------------------------------------

static void add_original(struct saturation *s)
{
    enode_id *ids = mem_new_array(enode_id, s->g->tensors.count + 1);
    egraph_add_graph(&s->e, s->g, ids);
    egraph_origins_init(&s->origins, &s->e, s->g, ids);
    for (size_t i = 0; i < s->g->outputs.count; i++)
        vec_push(&s->outputs, ids[s->g->outputs.items[i]]);
    mem_free_array(ids, s->g->tensors.count + 1);
}

static void add_found(struct saturation *s)
{
    const struct graph *g = &s->found->graph;
    enode_id *ids = mem_new_array(enode_id, g->tensors.count + 1);
    egraph_add_graph(&s->e, g, ids);
    for (size_t i = 0; i < g->outputs.count; i++)
        egraph_union(&s->e, s->outputs.items[i], ids[g->outputs.items[i]], REASON_GIVEN);
    mem_free_array(ids, g->tensors.count + 1);
    egraph_rebuild(&s->e);
}

static void explore(struct saturation *s)
{
    struct exploration_options options = s->options->exploration;
    options.is_used = is_rule_used;
    options.context = s;
    exploration_init(&s->x, &s->e, s->rules, &options);
    exploration_run(&s->x);
}

// --- the best graph --------------------------------------------------------------------------------------------------

static bool build(const struct saturation *s, const struct candidate *c, struct graph *ret_graph)
{
    graph_init(ret_graph, s->found->graph.arena);
    return egraph_build_graph(&s->e, c->choice, &s->origins, s->outputs.items, s->outputs.count, ret_graph);
}

// Priced as a whole. NULL: none is cheaper than what was found by enough.
static const struct candidate *find_best(struct saturation *s, const struct candidates *all, double *ret_seconds)
{
    const struct candidate *best = NULL;
    double least = s->found->seconds_after * (1 - s->options->least_gain);
    for (size_t i = 0; i < all->items.count; i++) {
        struct graph g;
        double seconds = build(s, &all->items.items[i], &g) ? s->cost->graph_seconds(s->cost->context, &g) : INFINITY;
        s->found->saturation.graphs_priced++;
        if (seconds < least) {
            best = &all->items.items[i];
            least = *ret_seconds = seconds;
        }
        graph_free(&g);
    }
    return best;
}

static size_t number_of_rule(const struct rule_set *rules, const struct rule *r)
{
    size_t i = 0;
    while (rules->rules.items[i] != r)
        i++;
    return i;
}

static void count_applications(struct saturation *s)
{
    struct search_result *f = s->found;
    vec_clear(&f->applications);
    for (size_t i = 0; i < s->rules->rules.count; i++)
        vec_push(&f->applications, 0);
    for (size_t i = 0; i < f->steps.count; i++)
        f->applications.items[number_of_rule(s->rules, f->steps.items[i].rule)]++;
}

// What the former search did is a part of it where the derivation rests on its result. Nothing is known of the gain of
// single applications: the last one has all of it.
static void tell_steps(struct saturation *s, const struct derivation *d, double seconds)
{
    struct search_result *f = s->found;
    if (!d->uses_given)
        vec_clear(&f->steps);
    double before = f->steps.count ? vec_last(&f->steps).seconds_after : f->seconds_before;
    for (size_t i = 0; i < d->applications.count; i++) {
        const struct eapplication *a = &s->x.applications.items[d->applications.items[i]];
        bool is_last = i + 1 == d->applications.count;
        vec_push(&f->steps, ((struct search_step){s->rules->rules.items[a->rule], is_last ? seconds : before}));
    }
    count_applications(s);
}

static void adopt(struct saturation *s, const struct candidate *best, const struct derivation *d, double seconds)
{
    struct graph g;
    tell_steps(s, d, seconds);
    build(s, best, &g);
    graph_free(&s->found->graph);
    s->found->graph = g;
    s->found->seconds_after = seconds;
    s->found->saturation.is_better = true;
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

static void fill_figures(struct saturation *s, const struct candidates *all)
{
    struct saturation_figures *f = &s->found->saturation;
    f->is_done = true;
    f->rounds = s->x.rounds.count;
    f->nodes = s->e.n_live;
    f->classes = s->e.n_classes;
    f->unions = s->e.n_unions;
    f->cycles_prevented = s->x.n_prevented;
    f->cycles_resolved = s->x.n_resolved;
    f->seconds_exploring = s->x.seconds;
    f->seconds_pricing = all->seconds_pricing;
    f->seconds_extracting = all->seconds_extracting;
    f->end = exploration_end_names[s->x.end];
    f->bound = all->bound;
    f->extracted = all->best;
    for (size_t i = 0; i < s->rules->rules.count; i++) {
        vec_push(&s->found->unions, s->x.of_rules.items[i].unions);
        f->matches += s->x.of_rules.items[i].matches;
    }
}

static void note_course(struct saturation *s, double started)
{
    struct search_statistics *statistics = &s->found->statistics;
    statistics->seconds += clock_seconds() - started;
    vec_push(&s->found->course,
             ((struct search_point){statistics->expanded, statistics->seconds, s->found->seconds_after}));
}

static void begin(struct saturation *s)
{
    egraph_init(&s->e, 0);
    add_original(s);
    add_found(s);
    explore(s);
}

static void end(struct saturation *s)
{
    exploration_free(&s->x);
    egraph_origins_free(&s->origins);
    egraph_free(&s->e);
    vec_free(&s->outputs);
}

// False: a rule was refuted by its part in the result, which is left as it was.
static bool saturate(struct saturation *s, struct candidates *all)
{
    struct derivation d = {0};
    double seconds = INFINITY;
    struct extraction_budget budget = s->options->extraction;
    budget.is_interrupted = is_interrupted;
    candidates_find(all, &s->e, s->cost, &budget, s->outputs.items, s->outputs.count);
    const struct candidate *best = find_best(s, all, &seconds);
    if (best)
        derivation_find(&d, &s->x, best->choice, s->outputs.items, s->outputs.count);
    bool is_right = is_validated(s, &d);
    if (best && is_right)
        adopt(s, best, &d, seconds);
    derivation_free(&d);
    return is_right;
}

void saturation_improve(struct search_result *found, const struct graph *g, const struct rule_set *rules,
                        const struct cost_model *cost, const struct saturation_options *options)
{
    struct saturation s = {.options = options, .g = g, .cost = cost, .rules = rules, .found = found};
    struct candidates all;
    double started = clock_seconds();
    uint64_t checked = options->validator ? options->validator->checked : 0;
    for (bool is_done = false; !is_done;) {
        begin(&s);
        is_done = saturate(&s, &all);
        if (is_done)
            fill_figures(&s, &all);
        candidates_free(&all);
        end(&s);
    }
    found->statistics.validated += options->validator ? options->validator->checked - checked : 0;
    note_course(&s, started);
}
