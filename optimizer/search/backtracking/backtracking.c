// The search: greedy descent, then chains, until patience or the budget ends.
#include "optimizer/search/backtracking/backtracking.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "optimizer/search/backtracking/chains.h"
#include "optimizer/search/backtracking/greedy.h"
#include "optimizer/search/backtracking/proposals.h"

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
    vec_push(&s->result->course, point);
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
    while (!has_to_stop(s) && whole_descend(&s->whole, &m)) {
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

// Until it has to stop, or all chains were tried.
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
    while (whole_has_to_stop(&s->whole) && whole_descend(&s->whole, &m)) {
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
