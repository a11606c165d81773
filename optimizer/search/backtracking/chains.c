// Chains of rewrites around each match that gains nothing alone, priced in batches, applied wherever they fit.
#include "optimizer/search/backtracking/chains.h"

#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include "optimizer/search/backtracking/proposals.h"
#include "optimizer/search/backtracking/replay.h"
#include "optimizer/search/repeated_weight.h"
#include "substitutions/match_index.h"
#include <math.h>

// Numbers in place of a proposal's:
#define WIDE_EXPANSION UINT32_MAX
#define WAITING_EXPANSION (UINT32_MAX - 1)

// --- promises --------------------------------------------------------------------------------------------------------
// None of the steps on the way to a promised gain gains anything, so without it the search would have to stumble over
// all of them in a row. Of several such tensors the one of most worth counts: a chain that begins with another one is
// no nearer to the end.

struct isolation {
    const struct graph *region;
    const bool *is_weight;
    struct graph *alone;
};

static tensor_id add_leaf(void *context, tensor_id t)
{
    const struct isolation *i = context;
    bool is_known = i->is_weight[i->region->tensors.items[t].producer];
    int64_t number = repeated_weight_index(t, is_known ? tensor_repeated_axes(i->region, t) : 0);
    return graph_add_leaf(i->alone, operators[is_known ? OP_WEIGHT : OP_INPUT], number, graph_type(i->region, t));
}

// The node alone, reading inputs, or weights where it reads weights. What is known before the graph runs costs nothing.
static double seconds_of_node(struct whole *w, const struct graph *region, node_id n, const bool *is_weight)
{
    ARENA(arena);
    struct graph alone;
    struct isolation isolation = {region, is_weight, &alone};
    const struct graph_extraction x = {.from = region, .to = &alone, .context = &isolation, .find = add_leaf};
    if (is_weight[n])
        return 0;
    graph_init(&alone, &arena);
    graph_add_output(&alone, graph_output_of(&alone, graph_extract_node(&x, n, false), 0));
    double seconds = w->cost->graph_seconds(w->cost->context, &alone);
    graph_free(&alone);
    return isfinite(seconds) ? seconds : 0;
}

static double known_seconds_of_node(struct whole *w, struct region_kind *k, const struct graph *region, node_id n)
{
    if (k->node_seconds.count == 0)
        for (size_t i = 0; i < region->nodes.count; i++)
            vec_push(&k->node_seconds, NAN);
    if (isnan(k->node_seconds.items[n])) {
        LOCAL_ARRAY(bool, is_weight, region->nodes.count + 1);
        graph_mark_constant(region, is_weight);
        k->node_seconds.items[n] = seconds_of_node(w, region, n, is_weight);
    }
    return k->node_seconds.items[n];
}

// Counts for every tensor (and one more): how many edges read it. An output is read once more, by whoever is outside.
static uint32_t *count_readers(const struct graph *g)
{
    uint32_t *counts = mem_alloc_zero((g->tensors.count + 1) * sizeof *counts);
    graph_count_reads(g, NULL, counts);
    return counts;
}

// Counts for every tensor of the region: its readers in the state; none where it is not there any more.
static uint32_t *count_readers_left(const struct state *s, const struct graph *region)
{
    uint32_t *now = count_readers(&s->graph);
    uint32_t *left = mem_alloc_zero((region->tensors.count + 1) * sizeof *left);
    for (tensor_id t = 0; t < s->graph.tensors.count; t++)
        if (s->stands_for[t] != NO_TENSOR)
            left[s->stands_for[t]] += now[t];
    mem_free(now, (s->graph.tensors.count + 1) * sizeof *now);
    return left;
}

// The gain that a state may still have: a tensor that some of its readers were led away from is one step nearer to
// being of no use, and when the last one leaves, what its operator costs is gained.
static double promise_of(struct state_space *space, uint32_t id)
{
    const struct state *s = &space->states.items[id];
    struct region_kind *k = space->kinds.items[s->kind];
    const struct graph *region = &space->states.items[k->root].graph;
    uint32_t *before = count_readers(region), *left = count_readers_left(s, region);
    double promise = 0;
    for (node_id n = 0; n < region->nodes.count; n++) {
        const struct node *node = &region->nodes.items[n];
        tensor_id t = node->first_output;
        if (node->n_outputs == 1 && node->op->define && left[t] != 0 && left[t] < before[t])
            promise = fmax(promise, known_seconds_of_node(space->w, k, region, n) * (before[t] - left[t]) / before[t]);
    }
    mem_free(before, (region->tensors.count + 1) * sizeof *before);
    mem_free(left, (region->tensors.count + 1) * sizeof *left);
    return promise;
}

// --- queues ----------------------------------------------------------------------------------------------------------

void chains_init(struct chains *c, struct whole *w)
{
    *c = (struct chains){.w = w, .space.w = w};
    c->queue.limit = w->options->max_candidates;
}

void chains_free(struct chains *c)
{
    states_free(&c->space);
    queue_free(&c->queue);
}

// --- expansion -------------------------------------------------------------------------------------------------------

static void queue_match(struct chains *c, const struct match *m, double change)
{
    const struct state *s = &c->space.states.items[c->expanding];
    double total = s->change + change;
    if (!whole_is_within_alpha(c->w, total)) {
        c->w->result->statistics.too_costly++;
        return;
    }
    double rank = total - s->credit + (s->depth + 1) * c->step_price, least = whole_least_gain(c->w);
    queue_push(&c->queue, &(struct candidate){.seconds = rank,
                                              .change = total,
                                              .least = least > s->least ? least : s->least,
                                              .parent = c->expanding,
                                              .match = *m});
}

static void take_priced(void *context, const struct match *m, size_t tag, enum outcome outcome, double change)
{
    struct chains *c = context;
    whole_count_outcome(c->w, outcome);
    if (outcome == OUTCOME_PRICED)
        queue_match(c, m, change);
}

static bool consider_match(void *context, const struct match *m)
{
    struct chains *c = context;
    if (match_touch(m, c->touches) == c->touch) {
        c->w->result->statistics.matches++;
        batch_add(&c->w->batch, m, 0);
    }
    return !whole_has_to_stop(c->w);
}

// Queues the matches that are touched so.
static void expand(struct chains *c, uint32_t id, enum touch touch)
{
    const struct state *s = &c->space.states.items[id];
    size_t n = s->graph.nodes.count;
    if (s->depth >= LONGEST_REWRITE_CHAIN)
        return;
    struct match_index index FREED_BY(match_index_free);
    c->expanding = id;
    c->touch = touch;
    c->touches = state_mark_touched(&c->space, s);
    LOCAL_ARRAY(bool, is_touched, n + 1);
    for (node_id i = 0; i < n; i++)
        is_touched[i] = c->touches[i] == touch;
    match_index_init(&index, &s->graph);
    batch_begin(&c->w->batch, &index, take_priced, c);
    rule_index_match(&c->w->in_use.index, &index, c->w->in_use.is_disabled, is_touched, &c->w->scratch, consider_match,
                     c);
    batch_end(&c->w->batch);
    mem_free(c->touches, n + 1);
}

// --- the queue -------------------------------------------------------------------------------------------------------

// No more than the budget allows to try.
size_t chains_begin(struct chains *c)
{
    struct whole *w = c->w;
    LOCAL_VEC(struct proposal *, untried);
    size_t n_nodes = w->graph.nodes.count ? w->graph.nodes.count : 1;
    size_t left = (size_t)w->options->budget - (size_t)w->result->statistics.expanded;
    c->step_price = w->price.seconds / (double)n_nodes / 4;
    for (size_t i = 0; i < w->proposals.list.count; i++)
        if (w->proposals.list.items[i].tried == NOT_TRIED && isfinite(w->proposals.list.items[i].change))
            vec_push(&untried, &w->proposals.list.items[i]);
    vec_sort(&untried, proposal_compare_pointed);
    size_t n = untried.count < left ? untried.count : left;
    for (size_t i = 0; i < n; i++) {
        const struct proposal *p = untried.items[i];
        struct candidate next = {.seconds = p->change + c->step_price,
                                 .change = p->change,
                                 .least = p->least,
                                 .parent = NO_STATE,
                                 .proposal = (uint32_t)(p - w->proposals.list.items),
                                 .match = p->match};
        queue_push(&c->queue, &next);
    }
    return n;
}

static bool is_still_of_use(void *context, const struct candidate *next)
{
    struct chains *c = context;
    return next->parent != NO_STATE && !c->space.kinds.items[c->space.states.items[next->parent].kind]->is_gone;
}

// A flag for each kind of region: is something queued for it? To be freed.
static bool *mark_unfinished(const struct chains *c)
{
    bool *is_unfinished = mem_alloc_zero(c->space.kinds.count + 1);
    for (size_t i = 0; i < c->queue.heap.count; i++)
        if (c->queue.heap.items[i]->parent != NO_STATE)
            is_unfinished[c->space.states.items[c->queue.heap.items[i]->parent].kind] = true;
    return is_unfinished;
}

// Chains are begun anew where a region is not any more what it was.
static void retry_in_changed_regions(struct chains *c)
{
    bool *is_left = states_mark_sites(&c->space);
    vec_each(&c->w->proposals.list, p)
        if (p->tried != NOT_TRIED && !is_left[p->tried])
            p->tried = NOT_TRIED;
    mem_free(is_left, c->space.n_sites + 1);
}

void chains_follow(struct chains *c, const struct movement *m)
{
    states_follow(&c->space, m);
    retry_in_changed_regions(c);
    queue_keep(&c->queue, is_still_of_use, c);
}

void chains_reduce(struct chains *c)
{
    queue_drop_costlier_half(&c->queue);
    bool *is_unfinished = mark_unfinished(c);
    for (uint32_t i = 0; i < c->space.kinds.count; i++)
        if (!is_unfinished[i])
            states_forget_kind(&c->space, i);
    mem_free(is_unfinished, c->space.kinds.count + 1);
    pricer_forget(&c->w->pricer);
}

// --- a step ----------------------------------------------------------------------------------------------------------

// A task for later: what is to be done with a state that was made, in place of a proposal's number.
static void queue_state(struct chains *c, uint32_t id, uint32_t task, double rank)
{
    const struct state *s = &c->space.states.items[id];
    queue_push(&c->queue, &(struct candidate){.seconds = rank,
                                              .change = s->change,
                                              .least = s->least,
                                              .parent = id,
                                              .proposal = task,
                                              .match = s->match});
}

// The matches that are touched widely, when chains of close ones did not come to anything.
static void queue_wide_expansion(struct chains *c, uint32_t id)
{
    const struct state *s = &c->space.states.items[id];
    queue_state(c, id, WIDE_EXPANSION, s->change - s->credit + (s->depth + WIDE_STEPS) * c->step_price);
}

static void expand_closely(struct chains *c, uint32_t id)
{
    c->w->result->statistics.expanded++;
    expand(c, id, TOUCH_CLOSE);
    queue_wide_expansion(c, id);
}

// Counts as an expansion when there was something.
static void expand_widely(struct chains *c, uint32_t id)
{
    uint64_t n_matches = c->w->result->statistics.matches;
    expand(c, id, TOUCH_WIDE);
    c->w->result->statistics.expanded += c->w->result->statistics.matches > n_matches;
}

// Steps are gone on with sooner only if they add to what is promised, so that no promise holds the search for ever.
static void note_promise(struct chains *c, uint32_t id)
{
    struct state *s = &c->space.states.items[id];
    double before = c->space.states.items[s->parent].promise;
    s->promise = promise_of(&c->space, id);
    s->credit = s->promise > before * (1 + 1e-9) ? s->promise : 0;
}

// The gain was none when the whole graph was priced. What surrounds the region is why, so other gains in it are as
// wrong.
static void note_error(struct chains *c, const struct state *s)
{
    struct region_kind *k = c->space.kinds.items[s->kind];
    double error = c->w->price.refused - s->change;
    if (error > 0 && isfinite(error) && (k->error == 0 || error < k->error))
        k->error = error;
}

static bool apply_if_better(struct chains *c, uint32_t id, double least, struct movement *ret_movement)
{
    struct state *s = &c->space.states.items[id];
    bool is_likely = s->change + c->space.kinds.items[s->kind]->error < -least;
    if (is_likely && chain_apply_everywhere(&c->space, id, ret_movement))
        return true;
    s = &c->space.states.items[id];
    if (is_likely)
        note_error(c, s);
    s->change = 0;
    return false;
}

// Most of what follows a step with a promise adds nothing to it, and has got its rank from it: so it waits behind what
// keeps the promise.
static void queue_expansion(struct chains *c, uint32_t id)
{
    const struct state *s = &c->space.states.items[id];
    queue_state(c, id, WAITING_EXPANSION, s->change + s->depth * c->step_price);
}

// The region is priced in its new state: sums of estimates drift. One step changes what its match does. What seems to
// be good, and is not when the whole graph is priced, is as good as nothing.
static bool try_state(struct chains *c, uint32_t parent, const struct candidate *next, struct movement *ret_movement)
{
    bool is_new;
    double step_change = next->change - c->space.states.items[parent].change;
    uint32_t id = states_make_state(&c->space, parent, &next->match, step_change, &is_new);
    if (id == NO_STATE)
        return false;
    if (c->space.states.items[id].is_expanded) {
        c->w->result->statistics.duplicates++;
        return false;
    }
    c->space.states.items[id].is_expanded = true;
    c->space.states.items[id].least = next->least;
    if (c->space.states.items[parent].parent == NO_STATE)
        states_set_change(&c->space, id, next->change);
    double change = states_price_state(&c->space, id);
    if (change < -next->least && apply_if_better(c, id, next->least, ret_movement))
        return true;
    if (!whole_is_within_alpha(c->w, change))
        return false;
    note_promise(c, id);
    bool has_promise = c->space.states.items[parent].credit > 0;
    if (has_promise && c->space.states.items[id].credit == 0)
        queue_expansion(c, id);
    else
        expand_closely(c, id);
    return false;
}

// The beginning of a chain. A new site of a region for which a good chain is known needs no search.
static bool try_beginning(struct chains *c, const struct candidate *next, struct movement *ret_movement)
{
    struct candidate first = *next;
    bool is_new_site;
    uint32_t *site = &c->w->proposals.list.items[next->proposal].tried;
    uint32_t kind = states_find_kind(&c->space, &next->match, &first.match, site, &is_new_site);
    uint32_t winner = c->space.kinds.items[kind]->winner;
    return (is_new_site && winner != NO_STATE && chain_apply_everywhere(&c->space, winner, ret_movement)) ||
           try_state(c, c->space.kinds.items[kind]->root, &first, ret_movement);
}

bool chains_step(struct chains *c, bool *ret_is_adopted, struct movement *ret_movement)
{
    struct candidate *next = queue_pop(&c->queue);
    *ret_is_adopted = false;
    if (!next)
        return false;
    if (next->parent == NO_STATE)
        *ret_is_adopted = try_beginning(c, next, ret_movement);
    else if (is_still_of_use(c, next) && next->proposal == WIDE_EXPANSION)
        expand_widely(c, next->parent);
    else if (is_still_of_use(c, next) && next->proposal == WAITING_EXPANSION)
        expand_closely(c, next->parent);
    else if (is_still_of_use(c, next))
        *ret_is_adopted = try_state(c, next->parent, next, ret_movement);
    candidate_free(next);
    return true;
}
