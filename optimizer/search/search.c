#include "optimizer/search/search.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "core/table.h"
#include "optimizer/search/neighbourhood.h"
#include "optimizer/search/queue.h"
#include <math.h>
#include <string.h>

const struct search_options search_standard_options = {.alpha = 1.05, .budget = 100, .max_candidates = 200000};

// A graph that was expanded, or is about to be.
struct state {
    struct graph graph;
    double seconds;
    uint32_t parent;           // UINT32_MAX for the original
    const struct rule *rule;   // by which it came from its parent
};
struct search {
    const struct rule_set *rules;
    const struct cost_model *cost;
    const struct search_options *options;
    struct search_result *result;
    struct arena scratch;
    VEC(struct state) states;
    struct table by_key;
    struct queue queue;
    uint32_t best;
    double started;
    struct progress progress;
    // while one state is expanded
    uint32_t expanding;
    struct graph working;   // a copy of its graph, to try targets in
    struct match_index index;
};

// --- states
// -----------------------------------------------------------------------------------------------------------

static bool is_same_graph(const void *owner, uint32_t id, const void *key)
{
    const struct search *s = owner;
    return graph_equal(&s->states.items[id].graph, key);
}

// Takes the graph, unless it was seen before: then it is freed and UINT32_MAX is given.
static uint32_t add_state(struct search *s, struct graph *g, uint32_t parent, const struct rule *rule)
{
    uint64_t key = graph_key(g);
    if (table_find(&s->by_key, key, is_same_graph, s, g) != TABLE_NONE) {
        s->result->statistics.duplicates++;
        graph_free(g);
        return UINT32_MAX;
    }
    uint32_t id = (uint32_t)s->states.count;
    vec_push(&s->states, ((struct state){*g, s->cost->graph_seconds(s->cost->context, g), parent, rule}));
    table_insert(&s->by_key, key, id);
    return id;
}

static uint32_t make_state(struct search *s, const struct candidate *c)
{
    struct graph with_target, result;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    uint32_t id = UINT32_MAX;
    graph_copy(&with_target, &s->states.items[c->parent].graph);
    if (!match_apply(&c->match, &with_target, &s->scratch, old, new))
        s->result->statistics.ill_typed++;
    else if (!graph_replace(&result, &with_target, c->match.rule->n_outputs, old, new, NULL))
        s->result->statistics.cyclic++;
    else
        id = add_state(s, &result, c->parent, c->match.rule);
    graph_free(&with_target);
    return id;
}

// --- expansion
// --------------------------------------------------------------------------------------------------------

static bool is_within_alpha(const struct search *s, double seconds)
{
    return seconds < s->options->alpha * s->states.items[s->best].seconds;
}

static bool queue_match(void *context, const struct match *m)
{
    struct search *s = context;
    struct arena_mark arena = arena_mark(s->working.arena);
    struct graph_mark nodes = graph_mark(&s->working);
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    double change;
    s->result->statistics.matches++;
    if (!match_apply(m, &s->working, &s->scratch, old, new)) {
        s->result->statistics.ill_typed++;
    } else if (!neighbourhood_cost_change(&s->working, nodes.nodes, &s->index, m, old, new, s->cost, &change)) {
        s->result->statistics.cyclic++;
    } else {
        double seconds = s->states.items[s->expanding].seconds + change;
        if (is_within_alpha(s, seconds))
            queue_push(&s->queue, &(struct candidate){.seconds = seconds, .parent = s->expanding, .match = *m});
        else
            s->result->statistics.too_costly++;
    }
    graph_rollback(&s->working, nodes);
    arena_release(s->working.arena, arena);
    return !interrupt_requested();
}

static void expand(struct search *s, uint32_t id)
{
    s->expanding = id;
    graph_copy(&s->working, &s->states.items[id].graph);
    match_index_init(&s->index, &s->states.items[id].graph);
    for (size_t i = 0; i < s->rules->rules.count && !interrupt_requested(); i++)
        rule_match(s->rules->rules.items[i], &s->index, NO_NODE, &s->scratch, queue_match, s);
    match_index_free(&s->index);
    graph_free(&s->working);
    s->result->statistics.expanded++;
}

static bool has_to_stop(struct search *s)
{
    double elapsed = clock_seconds() - s->started;
    s->result->statistics.is_interrupted = interrupt_requested();
    s->result->statistics.is_out_of_time = s->options->seconds > 0 && elapsed > s->options->seconds;
    return s->result->statistics.is_interrupted || s->result->statistics.is_out_of_time ||
           s->result->statistics.expanded >= (uint64_t)s->options->budget;
}

static void show_progress(struct search *s)
{
    progress_update(&s->progress, s->result->statistics.expanded, "best %.3f ms of %.3f, %zu queued",
                    1e3 * s->states.items[s->best].seconds, 1e3 * s->states.items[0].seconds, s->queue.heap.count);
}

static void consider(struct search *s, const struct candidate *c)
{
    if (!is_within_alpha(s, c->seconds)) {
        s->result->statistics.too_costly++;
        return;
    }
    uint32_t id = make_state(s, c);
    if (id == UINT32_MAX)
        return;
    if (!is_within_alpha(s, s->states.items[id].seconds)) {
        s->result->statistics.too_costly++;
        return;
    }
    if (s->states.items[id].seconds < s->states.items[s->best].seconds)
        s->best = id;
    expand(s, id);
    show_progress(s);
}

static void run(struct search *s)
{
    expand(s, 0);
    while (!has_to_stop(s)) {
        struct candidate *c = queue_pop(&s->queue);
        s->result->statistics.is_exhausted = c == NULL;
        if (!c)
            return;
        consider(s, c);
        candidate_free(c);
    }
}

// --- the result
// -------------------------------------------------------------------------------------------------------

static void list_steps(struct search *s)
{
    struct search_result *r = s->result;
    for (uint32_t id = s->best; s->states.items[id].parent != UINT32_MAX; id = s->states.items[id].parent)
        vec_push(&r->steps, ((struct search_step){s->states.items[id].rule, s->states.items[id].seconds}));
    for (size_t i = 0; i < r->steps.count / 2; i++) {
        struct search_step step = r->steps.items[i];
        r->steps.items[i] = r->steps.items[r->steps.count - 1 - i];
        r->steps.items[r->steps.count - 1 - i] = step;
    }
    for (size_t i = 0; i < s->rules->rules.count; i++) {
        uint64_t n = 0;
        for (size_t j = 0; j < r->steps.count; j++)
            n += r->steps.items[j].rule == s->rules->rules.items[i];
        vec_push(&r->applications, n);
    }
}

static void finish(struct search *s)
{
    struct search_result *r = s->result;
    r->seconds_before = s->states.items[0].seconds;
    r->seconds_after = s->states.items[s->best].seconds;
    graph_copy(&r->graph, &s->states.items[s->best].graph);
    list_steps(s);
    r->statistics.queued = s->queue.arrived;
    r->statistics.dropped = s->queue.dropped;
    r->statistics.peak_queue = s->queue.peak;
    r->statistics.seconds = clock_seconds() - s->started;
}

void search_graph(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                  const struct search_options *options, struct search_result *ret_result)
{
    struct search s = {.rules = rules, .cost = cost, .options = options, .result = ret_result};
    struct graph original;
    *ret_result = (struct search_result){0};
    arena_init(&s.scratch);
    s.started = clock_seconds();
    s.queue.limit = options->max_candidates;
    progress_start(&s.progress, options->progress, "search", (uint64_t)options->budget);
    graph_replace(&original, g, 0, NULL, NULL, NULL);
    add_state(&s, &original, UINT32_MAX, NULL);
    run(&s);
    progress_end(&s.progress);
    finish(&s);
    for (size_t i = 0; i < s.states.count; i++)
        graph_free(&s.states.items[i].graph);
    vec_free(&s.states);
    table_free(&s.by_key);
    queue_free(&s.queue);
    arena_free(&s.scratch);
}

void search_result_free(struct search_result *result)
{
    graph_free(&result->graph);
    vec_free(&result->steps);
    vec_free(&result->applications);
}
