// None of the steps on the way to a promised gain gains anything, so without it the search would have to stumble over
// all of them in a row. Of several such tensors the one of most worth counts: a chain that begins with another one is
// no nearer to the end.
#include "optimizer/search/backtracking/lookahead.h"

#include "graph/graph_whole.h"

#include "graph/extract.h"
#include "optimizer/search/repeated_weight.h"
#include <math.h>

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

double states_promise_of(struct state_space *space, uint32_t id)
{
    const struct state *s = &space->states.items[id];
    struct region_kind *k = space->kinds.items[s->kind];
    const struct graph *region = &space->states.items[k->root].graph;
    uint32_t *before = count_readers(region), *left = count_readers_left(s, region);
    double promise = 0;
    for (node_id n = 0; n < region->nodes.count; n++) {
        const struct node *node = &region->nodes.items[n];
        tensor_id t = node->first_output;
        if (node->n_outputs != 1 || !node->op->define || left[t] == 0 || left[t] >= before[t])
            continue;
        promise = fmax(promise, known_seconds_of_node(space->w, k, region, n) * (before[t] - left[t]) / before[t]);
    }
    mem_free(before, (region->tensors.count + 1) * sizeof *before);
    mem_free(left, (region->tensors.count + 1) * sizeof *left);
    return promise;
}
