// The steps of a reduction that take nodes away.
#include "egraph/extraction/reduce_kill.h"

#include "core/memory/memory.h"
#include "egraph/extraction/draft.h"

struct building {
    struct draft *draft;
    struct draft_readers readers;
    uint32_t *missing;   // [n_nodes] children that are not built yet
    bool *is_built;      // [n_classes]
    VEC(uint32_t) queue;
};

static void build_class(struct building *b, uint32_t class_id)
{
    if (b->is_built[class_id])
        return;
    b->is_built[class_id] = true;
    vec_push(&b->queue, class_id);
}

static void build_from_leaves(struct building *b)
{
    const struct draft *d = b->draft;
    for (uint32_t n = 0; n < d->origin->n_nodes; n++) {
        b->missing[n] = d->nodes[n].n_children;
        if (d->nodes[n].is_alive && !b->missing[n])
            build_class(b, d->nodes[n].class_id);
    }
    for (size_t next = 0; next < b->queue.count; next++) {
        uint32_t built = b->queue.items[next];
        for (uint32_t i = b->readers.first[built]; i < b->readers.first[built + 1]; i++)
            if (!--b->missing[b->readers.list[i]])
                build_class(b, d->nodes[b->readers.list[i]].class_id);
    }
}

void reduce_kill_unbuildable(struct draft *d)
{
    uint32_t n_nodes = d->origin->n_nodes;
    struct building b = {.draft = d, .missing = mem_new_array(uint32_t, n_nodes + 1)};
    b.is_built = mem_alloc_zero(d->origin->n_classes + 1);
    draft_list_readers(d, &b.readers);
    build_from_leaves(&b);
    for (uint32_t n = 0; n < n_nodes; n++)
        if (b.missing[n])
            draft_kill(d, n);
    draft_free_readers(&b.readers);
    mem_free_array(b.missing, n_nodes + 1);
    mem_free(b.is_built, d->origin->n_classes + 1);
    vec_free(&b.queue);
}

void reduce_kill_unreached(struct draft *d)
{
    uint32_t n_classes = d->origin->n_classes;
    bool *is_reached = mem_alloc_zero(n_classes + 1);
    VEC(uint32_t) queue = {0};
    for (uint32_t c = 0; c < n_classes; c++)
        if (d->is_needed[c]) {
            is_reached[c] = true;
            vec_push(&queue, c);
        }
    while (queue.count) {
        uint32_t class_id = vec_pop(&queue);
        DRAFT_EACH_MEMBER(d, class_id, node)
        {
            for (uint32_t i = 0; i < d->nodes[*node].n_children; i++) {
                uint32_t child = d->nodes[*node].children[i];
                if (!is_reached[child])
                    vec_push(&queue, child);
                is_reached[child] = true;
            }
        }
    }
    for (uint32_t n = 0; n < d->origin->n_nodes; n++)
        if (!is_reached[d->nodes[n].class_id])
            draft_kill(d, n);
    mem_free(is_reached, n_classes + 1);
    vec_free(&queue);
}

static uint64_t signature_of(const struct draft_node *n)
{
    uint64_t signature = 0;
    for (uint32_t i = 0; i < n->n_children; i++)
        signature |= 1ull << n->children[i] % 64;
    return signature;
}

static bool reads_no_more(const struct draft_node *a, const struct draft_node *b)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->n_children; i++) {
        while (k < b->n_children && b->children[k] < a->children[i])
            k++;
        if (k == b->n_children || b->children[k] != a->children[i])
            return false;
    }
    return true;
}

struct candidate {
    uint32_t node;
    uint64_t signature;
};

// May `a` always stand where `b` stands, at no more cost? Of two equal nodes the one with the lower id may.
static bool dominates(const struct draft *d, struct candidate a, struct candidate b)
{
    const struct draft_node *x = &d->nodes[a.node], *y = &d->nodes[b.node];
    if (a.node == b.node || !x->is_alive || x->cost > y->cost || (a.signature & ~b.signature))
        return false;
    bool is_equal = x->cost == y->cost && x->n_children == y->n_children;
    return reads_no_more(x, y) && (!is_equal || a.node < b.node);
}

static void kill_dominated_by(struct draft *d, struct candidate killer, const struct candidate *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (d->nodes[list[i].node].is_alive && dominates(d, killer, list[i]))
            draft_kill(d, list[i].node);
}

enum { MAX_KILLERS = 1000 };   // in a class: so that classes of many thousand nodes take no quadratic time

void reduce_kill_dominated(struct draft *d)
{
    VEC(struct candidate) list = {0};
    for (uint32_t c = 0; c < d->origin->n_classes; c++) {
        vec_clear(&list);
        DRAFT_EACH_MEMBER(d, c, node)
        {
            vec_push(&list, ((struct candidate){*node, signature_of(&d->nodes[*node])}));
        }
        for (size_t i = 0; i < list.count && i < MAX_KILLERS && d->n_alive[c] > 1; i++)
            kill_dominated_by(d, list.items[i], list.items, list.count);
    }
    vec_free(&list);
}
