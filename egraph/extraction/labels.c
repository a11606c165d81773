// Knuth's generalization of Dijkstra's algorithm ("A generalization of Dijkstra's algorithm", 1977) with a binary heap;
// each node enters the heap once, when the last of its children is settled.
#include "egraph/extraction/labels.h"

#include "core/memory/heap.h"
#include <math.h>

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    return x->value != y->value ? x->value < y->value : x->node < y->node;
}

static void list_readers(struct labels *l)
{
    const struct extraction_problem *p = l->problem;
    for (size_t i = 0; i < p->children.count; i++)
        l->first_reader[p->children.items[i] + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        l->first_reader[c] += l->first_reader[c - 1];
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; i < extraction_n_children(p, n); i++)
            l->readers[l->first_reader[extraction_children(p, n)[i] + 1]++] = n;
}

void labels_init(struct labels *l, const struct extraction_problem *p)
{
    *l = (struct labels){.problem = p};
    l->first_reader = mem_alloc_zero((p->n_classes + 2) * sizeof(uint32_t));
    l->readers = mem_new_array(uint32_t, p->children.count + 1);
    l->missing = mem_new_array(uint32_t, p->n_nodes + 1);
    list_readers(l);
}

void labels_free(struct labels *l)
{
    mem_free_array(l->first_reader, l->problem->n_classes + 2);
    mem_free_array(l->readers, l->problem->children.count + 1);
    mem_free_array(l->missing, l->problem->n_nodes + 1);
    vec_free(&l->heap);
}

struct setting {
    struct labels *labels;
    const struct label_pricing *pricing;
    uint32_t *choice;
};

static void price_node(struct setting *s, uint32_t node)
{
    const struct extraction_node *n = &s->labels->problem->nodes.items[node];
    if (s->choice[n->class_id] != EXTRACTION_NONE || !isfinite(n->cost))
        return;
    double price = s->pricing->price(s->pricing->context, node);
    if (isfinite(price))
        heap_push(&s->labels->heap, ((struct label){price, node}), is_before, NULL);
}

static void settle_class(struct setting *s, struct label label)
{
    struct labels *l = s->labels;
    uint32_t class_id = l->problem->nodes.items[label.node].class_id;
    if (s->choice[class_id] != EXTRACTION_NONE)
        return;
    s->choice[class_id] = label.node;
    s->pricing->settle(s->pricing->context, label.node, label.value);
    for (uint32_t i = l->first_reader[class_id]; i < l->first_reader[class_id + 1]; i++)
        if (!--l->missing[l->readers[i]])
            price_node(s, l->readers[i]);
}

void labels_set(struct labels *l, const struct label_pricing *pricing, uint32_t *ret_choice)
{
    const struct extraction_problem *p = l->problem;
    struct setting s = {l, pricing, ret_choice};
    for (uint32_t c = 0; c < p->n_classes; c++)
        ret_choice[c] = EXTRACTION_NONE;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        l->missing[n] = extraction_n_children(p, n);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (!l->missing[n])
            price_node(&s, n);
    while (l->heap.count)
        settle_class(&s, heap_pop(&l->heap, is_before, NULL));
}
