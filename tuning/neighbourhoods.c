// Hashes of hashes, once for each hop.
#include "tuning/neighbourhoods.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "graph/graph_whole.h"

enum { WEIGHT = 1, INPUT, OUTPUT };   // what is hashed of these, whatever their numbers
struct hashing {
    const struct graph *g;
    struct graph_uses uses;   // by live nodes
    bool *live, *is_constant;
    uint64_t *now, *next;
};

static bool is_leaf(const struct node *n)
{
    return n->op->flags & OPERATOR_IS_LEAF;
}

static uint64_t hash_alone(const struct hashing *h, node_id i)
{
    const struct node *n = &h->g->nodes.items[i];
    uint64_t hash = h->is_constant[i] ? WEIGHT : is_leaf(n) ? INPUT : n->label;
    for (uint32_t k = 0; k < n->n_outputs; k++)
        hash = hash_mix(hash, type_hash(graph_type(h->g, n->first_output + k)));
    return hash;
}

static uint64_t hash_of_inputs(const struct hashing *h, node_id i)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < h->g->nodes.items[i].n_inputs; k++) {
        const struct tensor *t = &h->g->tensors.items[graph_inputs(h->g, i)[k]];
        hash = hash_mix(hash, hash_mix(h->now[t->producer], t->output));
    }
    return hash;
}

// Readers stand in no order that means anything.
static uint64_t hash_of_readers(const struct hashing *h, node_id i)
{
    const struct node *n = &h->g->nodes.items[i];
    uint64_t sum = 0;
    for (tensor_id t = n->first_output; t < n->first_output + n->n_outputs; t++)
        for (uint32_t k = h->uses.first[t]; k < h->uses.first[t + 1]; k++)
            sum += hash_mix(h->now[h->uses.nodes[k]], t - n->first_output);
    return sum;
}

static void hop(struct hashing *h)
{
    for (node_id i = 0; i < h->g->nodes.count; i++) {
        bool is_alone = !h->live[i] || h->is_constant[i];
        h->next[i] = is_alone ? h->now[i] : hash_mix(h->now[i], hash_mix(hash_of_inputs(h, i), hash_of_readers(h, i)));
    }
    uint64_t *former = h->now;
    h->now = h->next;
    h->next = former;
}

void neighbourhoods_find(const struct graph *g, int hops, uint64_t *ret_fingerprints)
{
    ARENA(arena);
    size_t n = g->nodes.count;
    struct hashing h = {.g = g,
                        .live = arena_array(&arena, bool, n + 1),
                        .is_constant = arena_array(&arena, bool, n + 1),
                        .now = arena_array(&arena, uint64_t, n + 1),
                        .next = arena_array(&arena, uint64_t, n + 1)};
    graph_mark_live(g, h.live);
    graph_uses_init(&h.uses, g, h.live);
    graph_mark_constant(g, h.is_constant);
    for (node_id i = 0; i < n; i++)
        h.now[i] = hash_alone(&h, i);
    for (size_t i = 0; i < g->outputs.count; i++) {
        node_id maker = g->tensors.items[g->outputs.items[i]].producer;
        h.now[maker] = hash_mix(h.now[maker], OUTPUT);
    }
    for (int k = 0; k < hops; k++)
        hop(&h);
    for (node_id i = 0; i < n; i++) {
        bool is_configured = h.live[i] && !h.is_constant[i] && !is_leaf(&g->nodes.items[i]);
        ret_fingerprints[i] = is_configured ? h.now[i] | 1 : 0;
    }
    graph_uses_free(&h.uses);
}
