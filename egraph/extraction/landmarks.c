// A landmark is in every selection, so the classes of one are the candidates. Each class has the set of candidates
// that building it needs: itself, and what all of its nodes need, each the union of its children's. Sets begin when a
// class is first built and only shrink, until nothing changes: the greatest fixed point.
#include "egraph/extraction/landmarks.h"
#include "core/memory/arena.h"
#include "egraph/extraction/greedy.h"
#include <string.h>

struct landmarks {
    const struct extraction_problem *problem;
    struct labels labels;
    uint32_t *choice;      // [n_classes] a selection
    uint32_t *bit;         // [n_classes] number of a candidate; EXTRACTION_NONE
    size_t n_words;        // of a set
    uint64_t *sets;        // [n_classes][n_words]
    uint64_t *united;      // [n_words]
    bool *is_built;        // [n_classes]
    bool *is_queued;       // [n_nodes]
    VEC(uint32_t) queue;   // of nodes
};

static uint64_t *set_of(const struct landmarks *l, uint32_t class_id)
{
    return l->sets + class_id * l->n_words;
}

static void number_candidates(struct landmarks *l)
{
    uint32_t n_candidates = 0;
    for (uint32_t c = 0; c < l->problem->n_classes; c++)
        l->bit[c] = l->choice[c] == EXTRACTION_NONE ? EXTRACTION_NONE : n_candidates++;
    l->n_words = n_candidates / 64 + 1;
}

static void add_to_set(uint64_t *set, uint32_t bit)
{
    if (bit != EXTRACTION_NONE)
        set[bit / 64] |= 1ull << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return bit != EXTRACTION_NONE && set[bit / 64] >> bit % 64 & 1;
}

static bool can_unite(struct landmarks *l, uint32_t node)
{
    memset(l->united, 0, l->n_words * sizeof *l->united);
    for (uint32_t i = 0; i < extraction_n_children(l->problem, node); i++) {
        uint32_t child = extraction_children(l->problem, node)[i];
        if (!l->is_built[child])
            return false;
        for (size_t w = 0; w < l->n_words; w++)
            l->united[w] |= set_of(l, child)[w];
    }
    return true;
}

// Gives whether the set of the class changed.
static bool intersect(struct landmarks *l, uint32_t class_id)
{
    uint64_t *set = set_of(l, class_id), changes = 0;
    add_to_set(l->united, l->bit[class_id]);
    if (!l->is_built[class_id]) {
        l->is_built[class_id] = true;
        memcpy(set, l->united, l->n_words * sizeof *set);
        return true;
    }
    for (size_t w = 0; w < l->n_words; w++) {
        changes |= set[w] & ~l->united[w];
        set[w] &= l->united[w];
    }
    return changes != 0;
}

static void enqueue(struct landmarks *l, uint32_t node)
{
    if (l->is_queued[node])
        return;
    l->is_queued[node] = true;
    vec_push(&l->queue, node);
}

static void visit(struct landmarks *l, uint32_t node)
{
    uint32_t class_id = l->problem->nodes.items[node].class_id;
    l->is_queued[node] = false;
    if (!can_unite(l, node) || !intersect(l, class_id))
        return;
    for (uint32_t i = l->labels.first_reader[class_id]; i < l->labels.first_reader[class_id + 1]; i++)
        enqueue(l, l->labels.readers[i]);
}

static void iterate(struct landmarks *l)
{
    for (uint32_t n = 0; n < l->problem->n_nodes; n++)
        if (!extraction_n_children(l->problem, n))
            enqueue(l, n);
    for (size_t next = 0; next < l->queue.count; next++) {
        visit(l, l->queue.items[next]);
        if (next > l->problem->n_nodes) {   // what is done with is given back
            l->queue.count -= next + 1;
            memmove(l->queue.items, l->queue.items + next + 1, l->queue.count * sizeof *l->queue.items);
            next = (size_t)-1;
        }
    }
}

static void read_sets(struct landmarks *l, bool *ret_is_needed, bool *ret_is_cyclic)
{
    const struct extraction_problem *p = l->problem;
    memset(l->united, 0, l->n_words * sizeof *l->united);
    for (size_t i = 0; i < p->roots.count; i++)
        for (size_t w = 0; w < l->n_words; w++)
            l->united[w] |= set_of(l, p->roots.items[i])[w];
    for (uint32_t c = 0; c < p->n_classes; c++)
        ret_is_needed[c] = has_bit(l->united, l->bit[c]);
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        uint32_t own = l->bit[p->nodes.items[n].class_id];
        ret_is_cyclic[n] = !can_unite(l, n) || has_bit(l->united, own);
    }
}

void landmarks_find(const struct extraction_problem *p, bool *ret_is_needed, bool *ret_is_cyclic)
{
    ARENA(arena);
    struct landmarks l = {.problem = p};
    double cost;
    l.choice = arena_array(&arena, uint32_t, p->n_classes + 1);
    l.bit = arena_array(&arena, uint32_t, p->n_classes + 1);
    l.is_built = arena_array(&arena, bool, p->n_classes + 1);
    l.is_queued = arena_array(&arena, bool, p->n_nodes + 1);
    extraction_greedy_tree(p, l.choice, &cost);
    number_candidates(&l);
    size_t n_set_words = (p->n_classes + 1) * l.n_words;
    l.sets = arena_array(&arena, uint64_t, n_set_words);
    l.united = arena_array(&arena, uint64_t, l.n_words);
    labels_init(&l.labels, p);
    iterate(&l);
    read_sets(&l, ret_is_needed, ret_is_cyclic);
    labels_free(&l.labels);
    vec_free(&l.queue);
}
