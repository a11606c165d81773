// The best graph so far: what its proposals gain, trials of several at once, and adopting one.
#include "optimizer/search/backtracking/incumbent.h"

#include "graph/graph_whole.h"
#include "optimizer/search/backtracking/proposals.h"
#include "optimizer/search/result.h"
#include "substitutions/match_index.h"

#include <math.h>

// --- moving on to a better graph -------------------------------------------------------------------------------------

void movement_free(struct movement *m)
{
    mem_free_array(m->tensors, m->n_tensors);
    mem_free_array(m->nodes, m->n_nodes);
    mem_free_array(m->is_changed, m->n_nodes_now + 1);
}

struct pairs {
    VEC(tensor_id) old, new;
};

static void note_movement(const struct graph *before, size_t n_before, const struct graph *after,
                          const struct pairs *pairs, const tensor_id *map, struct movement *ret)
{
    size_t n_tensors =
        n_before ? before->nodes.items[n_before - 1].first_output + before->nodes.items[n_before - 1].n_outputs : 0;
    LOCAL_ZEROS(bool, is_replaced, before->tensors.count + 1);
    *ret = (struct movement){.n_tensors = n_tensors, .n_nodes = n_before, .n_nodes_now = after->nodes.count};
    ret->tensors = mem_new_array(tensor_id, n_tensors);
    ret->nodes = mem_new_array(node_id, n_before);
    ret->is_changed = mem_alloc_zero(after->nodes.count + 1);
    for (size_t i = 0; i < pairs->old.count; i++) {
        is_replaced[pairs->old.items[i]] = true;
        if (map[pairs->new.items[i]] != NO_TENSOR)
            ret->is_changed[after->tensors.items[map[pairs->new.items[i]]].producer] = true;
    }
    for (tensor_id t = 0; t < n_tensors; t++)
        ret->tensors[t] = is_replaced[t] ? NO_TENSOR : map[t];
    for (node_id n = 0; n < before->nodes.count; n++) {
        const struct node *node = &before->nodes.items[n];
        bool is_same = node->n_outputs > 0,
             is_changed = n >= n_before || ANY(uint32_t, i, node->n_inputs, is_replaced[graph_inputs(before, n)[i]]);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            is_same = is_same && !is_replaced[node->first_output + i];
        tensor_id moved = node->n_outputs ? map[node->first_output] : NO_TENSOR;
        is_same = is_same && moved != NO_TENSOR;
        if (is_changed && moved != NO_TENSOR)
            ret->is_changed[after->tensors.items[moved].producer] = true;
        if (n < n_before)
            ret->nodes[n] = is_same ? after->tensors.items[moved].producer : NO_NODE;
    }
}

static bool move_match(const struct movement *v, struct match *m)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++) {
        m->nodes[i] = v->nodes[m->nodes[i]];
        if (m->nodes[i] == NO_NODE || v->is_changed[m->nodes[i]])
            return false;
    }
    for (uint32_t i = 0; i < m->rule->pattern.n_variables; i++) {
        if (m->variables[i] == NO_TENSOR)
            continue;
        m->variables[i] = v->tensors[m->variables[i]];
        if (m->variables[i] == NO_TENSOR)
            return false;
    }
    return true;
}

static void add_near(node_id n, bool *near, node_list *found)
{
    if (near[n])
        return;
    near[n] = true;
    vec_push(found, n);
}

static void add_neighbours(const struct whole *w, node_id n, bool *near, node_list *found)
{
    const struct node *node = &w->graph.nodes.items[n];
    const uint32_t *first = w->index.uses.first + node->first_output;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        add_near(w->graph.tensors.items[graph_inputs(&w->graph, n)[i]].producer, near, found);
    for (uint32_t i = first[0]; i < first[node->n_outputs]; i++)
        add_near(w->index.uses.nodes[i], near, found);
}

// Nodes from which a changed one can be reached in a few steps along edges, in either direction.
static void mark_near(const struct whole *w, const bool *is_changed, bool *near)
{
    const int steps = 6;
    LOCAL_LIST(node_list, found);
    for (node_id n = 0; n < w->graph.nodes.count; n++) {
        near[n] = false;
        if (is_changed[n])
            add_near(n, near, &found);
    }
    size_t first = 0;
    for (int step = 0; step < steps; step++)
        for (size_t end = found.count; first < end; first++)
            add_neighbours(w, found.items[first], near, &found);
}

static void index_graph(struct whole *w)
{
    match_index_init(&w->index, &w->graph);
    graph_copy(&w->working, &w->graph);
}

static void forget_index(struct whole *w)
{
    match_index_free(&w->index);
    graph_free(&w->working);
}

static void adopt(struct whole *w, struct graph *better, double seconds, const struct movement *v)
{
    LOCAL_ARRAY(bool, near, better->nodes.count + 1);
    forget_index(w);
    graph_free(&w->graph);
    w->graph = *better;
    w->price.seconds = seconds;
    index_graph(w);
    vec_keep(&w->proposals.list, p, move_match(v, &p->match));
    mark_near(w, v->is_changed, near);
    whole_price_proposals_near(w, near);
    whole_find_proposals(w, v->is_changed);
}

// --- edits -----------------------------------------------------------------------------------------------------------

static void add_pair(struct pairs *p, tensor_id old, tensor_id new)
{
    if (old == new)
        return;
    vec_push(&p->old, old);
    vec_push(&p->new, new);
}

static bool make_edit(struct whole *w, const struct edit *e, struct graph *g, struct pairs *p)
{
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    if (e->match) {
        if (!match_apply(e->match, g, &w->scratch, old, new))
            return false;
        for (uint32_t i = 0; i < e->match->rule->n_outputs; i++)
            add_pair(p, old[i], new[i]);
        return true;
    }
    size_t most = e->rewritten->region->tensors.count + 1, count = 0;
    LOCAL_ARRAY(tensor_id, olds, most);
    LOCAL_ARRAY(tensor_id, news, most);
    bool is_made = region_graft(e->rewritten, e->site, g, &count, olds, news);
    for (size_t i = 0; is_made && i < count; i++)
        add_pair(p, olds[i], news[i]);
    return is_made;
}

// The steps' estimated changes, scaled so that they add up to the change of the whole.
static void list_steps(struct whole *w, const struct edit *edits, size_t n, double before, double after)
{
    double estimated = 0, done = 0;
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        estimated += edits[i].change;
        left += edits[i].n_steps;
    }
    double scale = estimated != 0 ? (after - before) / estimated : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < edits[i].n_steps; j++) {
            done += edits[i].steps[j].seconds_after;
            double seconds = --left == 0 ? after : before + scale * done;
            vec_push(&w->result->steps, ((struct search_step){edits[i].steps[j].rule, seconds}));
        }
}

bool whole_is_gain(double before, double after, double estimated_change, double least, size_t n)
{
    const double smallest = 1e-9, least_of_many = 0.25;
    double gain = before - after;
    return gain > smallest * before && gain >= least && (n == 1 || gain >= -least_of_many * estimated_change);
}

// The graph with some edits made, and what it costs.
struct trial {
    struct graph with_targets, better;
    struct pairs pairs;
    tensor_id *map;   // from the one to the other
    bool is_made, is_gain;
    double seconds;
};

static void make_trial(struct whole *w, const struct edit *edits, size_t n, struct trial *ret)
{
    double estimated = 0, least = 0;
    *ret = (struct trial){0};
    w->price.refused = INFINITY;
    graph_copy(&ret->with_targets, &w->graph);
    for (size_t i = 0; i < n; i++)
        if (make_edit(w, &edits[i], &ret->with_targets, &ret->pairs)) {
            estimated += edits[i].change;
            least += edits[i].least;
        }
    ret->map = mem_new_array(tensor_id, ret->with_targets.tensors.count + 1);
    ret->is_made = ret->pairs.old.count && graph_replace(&ret->better, &ret->with_targets, ret->pairs.old.count,
                                                         ret->pairs.old.items, ret->pairs.new.items, ret->map);
    if (!ret->is_made || !graph_is_within(&ret->better, &w->options->weights))
        return;
    ret->seconds = w->cost->graph_seconds(w->cost->context, &ret->better);
    w->price.n_nodes_priced += w->graph.nodes.count;
    ret->is_gain = whole_is_gain(w->price.seconds, ret->seconds, estimated, least, n);
    w->price.refused = ret->seconds - w->price.seconds;
}

static void free_trial(struct trial *t, bool is_adopted)
{
    mem_free_array(t->map, t->with_targets.tensors.count + 1);
    if (t->is_made && !is_adopted)
        graph_free(&t->better);
    graph_free(&t->with_targets);
    vecs_free(t, pairs.old, pairs.new);
}

bool whole_would_gain(struct whole *w, const struct edit *e)
{
    struct trial t;
    make_trial(w, e, 1, &t);
    free_trial(&t, false);
    return t.is_gain;
}

bool whole_apply_all(struct whole *w, const struct edit *edits, size_t n, struct movement *ret_movement)
{
    struct trial t;
    make_trial(w, edits, n, &t);
    if (t.is_gain) {
        note_movement(&t.with_targets, w->graph.nodes.count, &t.better, &t.pairs, t.map, ret_movement);
        list_steps(w, edits, n, w->price.seconds, t.seconds);
        search_result_add_milestone(w->result, &t.better);
        adopt(w, &t.better, t.seconds, ret_movement);
    }
    free_trial(&t, t.is_gain);
    return t.is_gain;
}

static bool looks_the_same(const struct edit *x, const struct edit *y)
{
    return x->change == y->change && (!x->match || x->match->rule == y->match->rule);
}

// About half of them. Those that look the same stay together where that leaves some and leaves some out: a graph of
// equal layers stays one, and what was found of a layer holds for the others.
static size_t fewer_edits(const struct edit *edits, size_t n)
{
    size_t half = n / 2, less = half, more = half;
    while (less > 0 && looks_the_same(&edits[less - 1], &edits[less]))
        less--;
    while (more > 0 && more < n && looks_the_same(&edits[more - 1], &edits[more]))
        more++;
    return less > 0 ? less : more < n ? more : half;
}

size_t whole_apply(struct whole *w, const struct edit *edits, size_t n, struct movement *ret_movement)
{
    for (; n > 0; n = fewer_edits(edits, n))
        if (whole_apply_all(w, edits, n, ret_movement))
            return n;
    return 0;
}

// --- beginning and end -----------------------------------------------------------------------------------------------

void whole_init(struct whole *w, const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                const struct search_options *options, struct search_result *result)
{
    *w = (struct whole){.in_use.rules = rules, .options = options, .cost = cost, .result = result};
    pricer_init(&w->pricer, cost);
    batch_init(&w->batch, &w->pricer);
    w->batch.weights = options->weights;
    validator_init(&w->own_validator);
    w->validator = options->validator ? options->validator : &w->own_validator;
    w->in_use.is_disabled = mem_alloc_zero(rules->rules.count + 1);
    rule_index_init(&w->in_use.index, rules);
    graph_replace(&w->graph, g, 0, NULL, NULL, NULL);
    w->price.seconds = cost->graph_seconds(cost->context, &w->graph);
    w->price.grain = isfinite(w->price.seconds) && w->price.seconds > 0 ? 1e-9 * w->price.seconds : 1;
    index_graph(w);
}

void whole_free(struct whole *w)
{
    forget_index(w);
    graph_free(&w->graph);
    vec_free(&w->proposals.list);
    batch_free(&w->batch);
    pricer_free(&w->pricer);
    validator_free(&w->own_validator);
    arena_free(&w->scratch);
    rule_index_free(&w->in_use.index);
    mem_free(w->in_use.is_disabled, w->in_use.rules->rules.count + 1);
}
