// Colours by refinement (Weisfeiler and Leman): a node's colour is first its operation and types, then again and again
// that with the colours of its neighbours. Listed is always the node of the least colour among those whose inputs are.
#include "optimizer/search/backtracking/canonical_order.h"

#include "core/memory/hash.h"
#include "core/memory/heap.h"
#include <string.h>

enum { ROUNDS = 3, MAX_READERS = 32 };

void ordering_free(struct ordering *o)
{
    vecs_free(o, places, nodes, colors, next_colors, missing, ready);
}

#define NO_PLACE UINT32_MAX

static uint32_t place_of(const struct ordering *o, node_id n)
{
    bool is_listed = n < o->places.count && o->places.items[n].generation == o->generation;
    return is_listed ? o->places.items[n].place : NO_PLACE;
}

static void set_place(struct ordering *o, node_id n, uint32_t place)
{
    while (o->places.count <= n)
        vec_push(&o->places, ((struct node_place){0}));
    o->places.items[n] = (struct node_place){o->generation, place};
}

static uint64_t color_of_leaf(const struct match_index *index, tensor_id t)
{
    const struct graph *g = index->graph;
    node_id producer = g->tensors.items[t].producer;
    uint64_t kind = (uint64_t)index->is_weight[producer] + index->is_given[producer];
    return hash_mix(type_hash(graph_type(g, t)), kind);
}

static uint64_t first_color(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    uint64_t h = node->label;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        h = hash_mix(h, type_hash(graph_type(g, node->first_output + i)));
    return h;
}

static uint64_t color_of_inputs(const struct ordering *o, const struct match_index *index, node_id n)
{
    const struct graph *g = index->graph;
    const struct node *node = &g->nodes.items[n];
    uint64_t h = 0;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        tensor_id t = graph_inputs(g, n)[i];
        uint32_t place = place_of(o, g->tensors.items[t].producer);
        uint64_t color =
            place == NO_PLACE ? color_of_leaf(index, t) : hash_mix(o->colors.items[place], g->tensors.items[t].output);
        h = node->op->flags & OPERATOR_IS_COMMUTATIVE ? h + hash_mix(color, 1) : hash_mix(h, color);
    }
    return h;
}

static uint64_t color_of_readers(const struct ordering *o, const struct match_index *index, node_id n)
{
    const struct node *node = &index->graph->nodes.items[n];
    const uint32_t *first = index->uses.first + node->first_output;
    uint64_t h = 0;
    if (first[node->n_outputs] - first[0] > MAX_READERS)
        return 1;
    for (uint32_t i = first[0]; i < first[node->n_outputs]; i++) {
        uint32_t place = place_of(o, index->uses.nodes[i]);
        h += place == NO_PLACE ? 2 : hash_mix(o->colors.items[place], 3);
    }
    return h;
}

static void refine_colors(struct ordering *o, const struct match_index *index)
{
    for (size_t i = 0; i < o->nodes.count; i++) {
        node_id n = o->nodes.items[i];
        uint64_t h = hash_mix(o->colors.items[i], color_of_inputs(o, index, n));
        o->next_colors.items[i] = hash_mix(h, color_of_readers(o, index, n));
    }
    memcpy(o->colors.items, o->next_colors.items, o->nodes.count * sizeof *o->colors.items);
}

static void color_nodes(struct ordering *o, const struct match_index *index, const struct match *m)
{
    vec_clear(&o->colors);
    vec_clear(&o->next_colors);
    for (size_t i = 0; i < o->nodes.count; i++) {
        vec_push(&o->colors, first_color(index->graph, o->nodes.items[i]));
        vec_push(&o->next_colors, 0);
    }
    for (uint32_t i = 0; m && i < m->rule->n_source_nodes; i++) {
        uint32_t place = place_of(o, m->nodes[i]);
        if (place != NO_PLACE)
            o->colors.items[place] = hash_mix(o->colors.items[place], i);
    }
    for (int round = 0; round < ROUNDS; round++)
        refine_colors(o, index);
}

// The earlier node of equal colours comes first.
static bool is_before(const void *context, const void *x, const void *y)
{
    const struct ordering *o = context;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (o->colors.items[a] != o->colors.items[b])
        return o->colors.items[a] < o->colors.items[b];
    return o->nodes.items[a] < o->nodes.items[b];
}

static void count_missing_inputs(struct ordering *o, const struct graph *g)
{
    vec_clear(&o->missing);
    vec_clear(&o->ready);
    for (size_t i = 0; i < o->nodes.count; i++) {
        uint32_t missing = 0;
        node_id n = o->nodes.items[i];
        for (uint32_t j = 0; j < g->nodes.items[n].n_inputs; j++)
            missing += place_of(o, g->tensors.items[graph_inputs(g, n)[j]].producer) != NO_PLACE;
        vec_push(&o->missing, missing);
        if (missing == 0)
            heap_push(&o->ready, (uint32_t)i, is_before, o);
    }
}

static void note_listed(struct ordering *o, const struct match_index *index, size_t i)
{
    const struct node *node = &index->graph->nodes.items[o->nodes.items[i]];
    const uint32_t *first = index->uses.first + node->first_output;
    for (uint32_t j = first[0]; j < first[node->n_outputs]; j++) {
        uint32_t place = place_of(o, index->uses.nodes[j]);
        if (place != NO_PLACE && --o->missing.items[place] == 0)
            heap_push(&o->ready, place, is_before, o);
    }
}

void order_nodes(struct ordering *o, const struct match_index *index, const struct match *m, node_id *nodes,
                 size_t count)
{
    vec_clear(&o->nodes);
    o->generation++;
    for (size_t i = 0; i < count; i++) {
        vec_push(&o->nodes, nodes[i]);
        set_place(o, nodes[i], (uint32_t)i);
    }
    if (count == 0)
        return;
    color_nodes(o, index, m);
    count_missing_inputs(o, index->graph);
    for (size_t i = 0; i < count; i++) {
        uint32_t least = heap_pop(&o->ready, is_before, o);
        nodes[i] = o->nodes.items[least];
        note_listed(o, index, least);
    }
}

bool order_is_swapped(const struct match_index *index, tensor_id first, tensor_id second)
{
    return color_of_leaf(index, second) < color_of_leaf(index, first);
}
