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
