// The search: greedy descent, then chains, until patience or the budget ends.
#include "optimizer/search/backtracking/backtracking.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "optimizer/search/backtracking/chains.h"
#include "optimizer/search/backtracking/proposals.h"

// --- descent ---------------------------------------------------------------------------------------------------------
// Descent: what makes the graph cheaper is applied at once, as far as it shares no node. Where the whole graph says
// that estimates were wrong, each kind of proposal is priced alone.

static bool claim_nodes(bool *claimed, const struct match *m)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        if (claimed[m->nodes[i]])
            return false;
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        claimed[m->nodes[i]] = true;
    return true;
}

typedef VEC(struct proposal *) proposal_list;

// The best improving proposals of which no two share a matched node, best first.
static void choose_apart(struct whole *w, proposal_list *ret_chosen)
{
    LOCAL_ZEROS(bool, claimed, w->graph.nodes.count + 1);
    for (size_t i = 0; i < w->proposals.list.count; i++)
        if (proposal_is_improving(&w->proposals.list.items[i]))
            vec_push(ret_chosen, &w->proposals.list.items[i]);
    vec_sort(ret_chosen, proposal_compare_pointed);
    vec_keep(ret_chosen, p, whole_allows(w, &(*p)->match, &w->graph) && claim_nodes(claimed, &(*p)->match));
}

static size_t apply_proposals(struct whole *w, const proposal_list *chosen, bool all_or_none,
                              struct movement *ret_movement)
{
    size_t n = chosen->count;
    LOCAL_ARRAY(struct edit, edits, n);
    LOCAL_ARRAY(struct search_step, steps, n);
    LOCAL_ARRAY(struct match, matches, n);
    for (size_t i = 0; i < n; i++) {
        const struct proposal *c = chosen->items[i];
        matches[i] = c->match;
        steps[i] = (struct search_step){c->match.rule, c->change};
        edits[i] = (struct edit){
            .match = &matches[i], .change = c->change, .least = c->least, .n_steps = 1, .steps = &steps[i]};
    }
    return all_or_none ? n * whole_apply_all(w, edits, n, ret_movement) : whole_apply(w, edits, n, ret_movement);
}

static void correct_price(struct whole *w, const struct match *m, double change)
{
    struct attempt a FREED_BY(attempt_end) = attempt_begin(m, &w->working, &w->scratch);
    struct rewrite r = attempt_rewrite(&a, &w->index);
    if (a.is_typed)
        pricer_correct(&w->pricer, &r, change);
}

// The change that a proposal makes alone in the whole graph is from now on the estimate of those that look like it,
// here and in graphs to come.
static void make_sure(struct whole *w, const struct proposal *p, double change)
{
    const struct rule *rule = p->match.rule;
    int64_t rank = p->rank;
    vec_each(&w->proposals.list, other) {
        if (other->match.rule == rule && other->rank == rank && !other->is_sure) {
            correct_price(w, &other->match, change);
            proposal_set_change(w, other, change);
            other->is_sure = true;
        }
    }
}

static bool has_alike(const proposal_list *list, const struct proposal *p)
{
    for (size_t i = list->count; i-- > 0 && list->items[i]->rank == p->rank;)
        if (list->items[i]->match.rule == p->match.rule)
            return true;
    return false;
}

// A proposal of each kind that is not sure. The proposals are listed by rank.
static void list_kinds(const proposal_list *chosen, proposal_list *ret_kinds)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (!chosen->items[i]->is_sure && !has_alike(ret_kinds, chosen->items[i]))
            vec_push(ret_kinds, chosen->items[i]);
}

static void price_alone(struct whole *w, const proposal_list *kinds, double *ret_seconds)
{
    LOCAL_ARRAY(const struct match *, matches, kinds->count);
    for (size_t i = 0; i < kinds->count; i++)
        matches[i] = &kinds->items[i]->match;
    batch_price_graphs(&w->batch, &w->index, kinds->count, matches, ret_seconds);
    w->price.n_nodes_priced += kinds->count * w->graph.nodes.count;
}

// Each kind is priced alone, with the whole graph. What gains nothing may still begin a chain.
// False: some of them gain nothing.
static bool make_all_sure(struct whole *w, proposal_list *chosen)
{
    LOCAL_LIST(proposal_list, kinds);
    if (!whole_has_to_stop(w))
        list_kinds(chosen, &kinds);
    bool is_good = true;
    LOCAL_ARRAY(double, seconds, kinds.count);
    price_alone(w, &kinds, seconds);
    for (size_t i = 0; i < kinds.count; i++) {
        const struct proposal *p = kinds.items[i];
        bool gains = whole_is_gain(w->price.seconds, seconds[i], p->change, p->least, 1);
        make_sure(w, p, gains ? seconds[i] - w->price.seconds : 0);
        is_good = is_good && gains;
    }
    vec_sort(chosen, proposal_compare_pointed);
    return is_good;
}

// A proposal that was sure in one graph need not be so in the next.
static bool make_all_sure_again(struct whole *w, proposal_list *chosen)
{
    for (size_t i = 0; i < chosen->count; i++)
        chosen->items[i]->is_sure = false;
    return make_all_sure(w, chosen);
}

// All that improves at once. Where that does not make the graph cheaper, some of the estimates are wrong: each kind of
// proposal is priced alone, before what is left is tried again.
// Applies the best improving proposals that do not overlap, all at once. False: none improves any more.
static bool descend_once(struct whole *w, struct movement *ret_movement)
{
    for (;;) {
        LOCAL_LIST(proposal_list, chosen);
        choose_apart(w, &chosen);
        size_t n = chosen.count, applied = n ? apply_proposals(w, &chosen, true, ret_movement) : 0;
        bool is_wrong = n && !applied && !make_all_sure(w, &chosen);
        if (n && !applied && !is_wrong) {
            applied = apply_proposals(w, &chosen, false, ret_movement);
            is_wrong = !applied && !make_all_sure_again(w, &chosen);
        }
        if (applied || whole_has_to_stop(w))
            return applied > 0;
        if (!is_wrong && !whole_price_stale_proposals(w))
            return false;
    }
}

// --- the search ------------------------------------------------------------------------------------------------------

const struct search_options search_standard_options = {.alpha = 1.05,
                                                       .least_gain = 0.001,
                                                       .budget = 1000,
                                                       .work_per_graph = 1800,
                                                       .work_per_node = 20000,
                                                       .usual_nodes = 1000,
                                                       .patience = 750,
                                                       .renewing_gain = 0.001,
                                                       .max_candidates = 200000,
                                                       .max_memory = (size_t)1 << 30,
                                                       .validates = true};

struct search {
    struct whole whole;
    struct chains chains;
    const struct search_options *options;
    struct search_result *result;
    double started;
    enum search_end end;                          // why it has to; exhausted, unless it has to
    int64_t memory_before;                        // of this thread, when the search began
    uint64_t checked_before, too_costly_before;   // by the validator
    struct progress progress;
};

static bool is_out_of_patience(const struct search *s)
{
    const struct whole *w = &s->whole;
    return patience_share(&w->pace.patience, s->options, &s->result->statistics, w->pricer.work) >= 1;
}

static bool has_to_stop(struct search *s)
{
    const struct whole *w = &s->whole;
    bool is_out_of_budget = s->result->statistics.expanded >= (uint64_t)s->options->budget;
    s->end = interrupt_requested()     ? SEARCH_INTERRUPTED
             : whole_is_out_of_time(w) ? SEARCH_OUT_OF_TIME
             : is_out_of_budget        ? SEARCH_OUT_OF_BUDGET
             : whole_is_out_of_work(w) ? SEARCH_OUT_OF_WORK
             : is_out_of_patience(s)   ? SEARCH_OUT_OF_PATIENCE
                                       : SEARCH_EXHAUSTED;
    return s->end != SEARCH_EXHAUSTED;
}

static void note_point(struct search *s)
{
    struct search_point point = {s->result->statistics.expanded, clock_seconds() - s->started, s->whole.price.seconds};
    vec_push(&s->result->trajectory, point);
}

static void note_better(struct search *s)
{
    struct whole *w = &s->whole;
    patience_note(&w->pace.patience, s->options, &s->result->statistics, w->pricer.work, w->price.seconds);
}

static void follow(struct search *s, struct movement *m)
{
    s->result->statistics.adopted++;
    note_better(s);
    note_point(s);
    chains_follow(&s->chains, m);
    movement_free(m);
}

static void descend(struct search *s)
{
    struct movement m;
    while (!has_to_stop(s) && descend_once(&s->whole, &m)) {
        s->result->statistics.expanded++;
        follow(s, &m);
        whole_show_progress(&s->whole);
    }
}

static void bound_memory(struct search *s)
{
    int64_t limit = (int64_t)s->options->max_memory;
    if (limit && mem_of_thread() - s->memory_before > limit)
        chains_reduce(&s->chains);
}

// Searches until it has to stop, or all chains were tried.
static void search_on(struct search *s)
{
    struct movement m;
    bool is_adopted = true, is_left = true;
    while (is_left && !has_to_stop(s)) {
        if (is_adopted) {
            descend(s);
            if (has_to_stop(s))
                return;
            chains_begin(&s->chains);
        }
        is_left = chains_step(&s->chains, &is_adopted, &m) || chains_begin(&s->chains) > 0;
        if (is_adopted)
            follow(s, &m);
        bound_memory(s);
        whole_show_progress(&s->whole);
    }
}

// Matches priced before work or time was spent are not lost: what improves is applied, but nothing is priced anew.
static void apply_what_is_left(struct search *s)
{
    struct movement m;
    while (whole_has_to_stop(&s->whole) && descend_once(&s->whole, &m)) {
        follow(s, &m);
        has_to_stop(s);
    }
}

static void run(struct search *s)
{
    if (has_to_stop(s))
        return;
    s->result->statistics.expanded++;
    whole_find_proposals(&s->whole, NULL);
    note_better(s);
    search_on(s);
    apply_what_is_left(s);
}

static void finish(struct search *s)
{
    struct search_result *r = s->result;
    r->seconds_after = s->whole.price.seconds;
    graph_copy(&r->graph, &s->whole.graph);
    r->statistics.queued = s->chains.queue.arrived;
    r->statistics.dropped += s->chains.queue.dropped;
    r->statistics.not_validated = s->whole.validator->too_costly - s->too_costly_before;
    r->statistics.validated = s->whole.validator->checked - s->checked_before - r->statistics.not_validated;
    r->statistics.priced = s->whole.pricer.asked;
    r->statistics.work = whole_work(&s->whole);
    vec_push(&r->ends, s->end);
    r->statistics.remembered = s->whole.pricer.known;
    r->statistics.seconds = clock_seconds() - s->started;
}

static uint64_t most_work(const struct search_options *options, const struct whole *w)
{
    int64_t n_nodes = COUNT(node_id, n, w->graph.nodes.count, !w->index.is_weight[n]);
    int64_t n_more = n_nodes > options->usual_nodes ? n_nodes - options->usual_nodes : 0;
    return (uint64_t)(options->work_per_graph * options->budget + options->work_per_node * n_more);
}

void search_graph(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                  const struct search_options *options, struct search_result *ret_result)
{
    struct search s = {.options = options, .result = ret_result, .started = clock_seconds()};
    s.memory_before = mem_of_thread();
    *ret_result = (struct search_result){0};
    progress_start(&s.progress, options->progress, "search", (uint64_t)options->budget);
    s.progress.later = options->later;
    s.progress.repeats = options->repeats;
    s.progress.countdown = options->countdown;
    s.progress.apart = options->measuring;
    s.progress.apart_before = options->measuring ? *options->measuring : 0;
    whole_init(&s.whole, g, rules, cost, options, ret_result);
    s.checked_before = s.whole.validator->checked;
    s.too_costly_before = s.whole.validator->too_costly;
    s.whole.price.most_work = most_work(options, &s.whole);
    s.whole.batch.deadline = options->seconds > 0 ? s.started + options->seconds : 0;
    s.progress.deadline = s.whole.batch.deadline;
    s.whole.pace.progress = &s.progress;
    chains_init(&s.chains, &s.whole);
    s.whole.pace.n_queued = &s.chains.queue.heap.count;
    ret_result->seconds_before = s.whole.price.seconds;
    note_point(&s);
    run(&s);
    note_point(&s);
    progress_end(&s.progress);
    finish(&s);
    chains_free(&s.chains);
    whole_free(&s.whole);
}
