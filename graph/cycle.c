// Nodes are numbered in topological order, so nothing before the first old tensor's producer has to be looked at.
#include "graph/cycle.h"

#include <assert.h>
#include <string.h>

struct climb {
    const struct graph *g;
    size_t n;
    const tensor_id *old;
    node_id first;   // no old tensor is produced before it
    VEC(node_id) stack;
    uint64_t *seen;   // one bit for each node from `first` on
    size_t n_words;
};

static void visit_producer(struct climb *c, tensor_id t)
{
    node_id producer = c->g->tensors.items[t].producer;
    if (producer < c->first)
        return;
    uint64_t bit = (uint64_t)1 << (producer - c->first) % 64, *word = &c->seen[(producer - c->first) / 64];
    if (*word & bit)
        return;
    *word |= bit;
    vec_push(&c->stack, producer);
}

// The set of old tensors that are read on the way up from a new one.
static uint64_t old_tensors_above(struct climb *c, tensor_id from)
{
    uint64_t found = 0;
    memset(c->seen, 0, c->n_words * sizeof *c->seen);
    visit_producer(c, from);
    while (c->stack.count) {
        node_id n = vec_pop(&c->stack);
        for (uint32_t i = 0; i < c->g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(c->g, n)[i];
            size_t j = FIRST_OF(size_t, k, c->n, c->old[k] == t);
            if (j < c->n)
                found |= (uint64_t)1 << j;
            else
                visit_producer(c, t);
        }
    }
    return found;
}

// Does the relation "stands above" among at most 64 things have a cycle? Things without anything above are taken away
// until nothing is left.
static bool has_cycle(const uint64_t *above, size_t n)
{
    uint64_t left = n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
    for (bool is_shrinking = true; left && is_shrinking;) {
        is_shrinking = false;
        for (size_t i = 0; i < n; i++)
            if ((left >> i & 1) && !(above[i] & left)) {
                left &= ~((uint64_t)1 << i);
                is_shrinking = true;
            }
    }
    return left != 0;
}

bool graph_replacement_has_cycle(const struct graph *g, size_t n, const tensor_id *old, const tensor_id *new)
{
    uint64_t above[64];
    struct climb c = {.g = g, .n = n, .old = old, .first = NO_NODE};
    assert(n <= 64);
    for (size_t i = 0; i < n; i++)
        if (g->tensors.items[old[i]].producer < c.first)
            c.first = g->tensors.items[old[i]].producer;
    c.n_words = (g->nodes.count - (n ? c.first : 0)) / 64 + 1;
    LOCAL_ARRAY(uint64_t, seen, c.n_words);
    c.seen = seen;
    for (size_t i = 0; i < n; i++)
        above[i] = old_tensors_above(&c, new[i]);
    vec_free(&c.stack);
    return has_cycle(above, n);
}
