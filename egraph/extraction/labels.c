// Knuth's generalization of Dijkstra's algorithm ("A generalization of Dijkstra's algorithm", 1977) with a binary heap;
// each node enters the heap once, when the last of its children is settled.
#include "egraph/extraction/labels.h"
#include "egraph/extraction/problem.h"
#include <math.h>

struct label {
    double value;
    uint32_t node;
};
struct labels {
    const struct extraction_problem *problem;
    const struct label_pricing *pricing;
    uint32_t *choice;
    uint32_t *first_reader, *readers;   // nodes by child class, once for each time that they name it
    uint32_t *missing;                  // of each node: children that are not settled yet
    VEC(struct label) heap;
};

static bool is_before(struct label a, struct label b)
{
    return a.value != b.value ? a.value < b.value : a.node < b.node;
}

static void heap_push(struct labels *l, struct label label)
{
    vec_push(&l->heap, label);
    size_t i = l->heap.count - 1;
    for (; i && is_before(label, l->heap.items[(i - 1) / 2]); i = (i - 1) / 2)
        l->heap.items[i] = l->heap.items[(i - 1) / 2];
    l->heap.items[i] = label;
}

static struct label heap_pop(struct labels *l)
{
    struct label first = l->heap.items[0], last = vec_pop(&l->heap);
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < l->heap.count; i = child) {
        if (child + 1 < l->heap.count && is_before(l->heap.items[child + 1], l->heap.items[child]))
            child++;
        if (!is_before(l->heap.items[child], last))
            break;
        l->heap.items[i] = l->heap.items[child];
    }
    if (l->heap.count)
        l->heap.items[i] = last;
    return first;
}

static void list_readers(struct labels *l)
{
    const struct extraction_problem *p = l->problem;
    l->first_reader = mem_alloc_zero((p->n_classes + 2) * sizeof(uint32_t));
    l->readers = mem_new_array(uint32_t, p->children.count + 1);
    l->missing = mem_new_array(uint32_t, p->n_nodes + 1);
    for (size_t i = 0; i < p->children.count; i++)
        l->first_reader[p->children.items[i] + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        l->first_reader[c] += l->first_reader[c - 1];
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        l->missing[n] = extraction_n_children(p, n);
        for (uint32_t i = 0; i < l->missing[n]; i++)
            l->readers[l->first_reader[extraction_children(p, n)[i] + 1]++] = n;
    }
}

static void price_node(struct labels *l, uint32_t node)
{
    const struct extraction_node *n = &l->problem->nodes.items[node];
    if (l->choice[n->class_id] == EXTRACTION_NONE && isfinite(n->cost))
        heap_push(l, (struct label){l->pricing->price(l->pricing->context, node), node});
}

static void settle_class(struct labels *l, struct label label)
{
    uint32_t class_id = l->problem->nodes.items[label.node].class_id;
    if (l->choice[class_id] != EXTRACTION_NONE)
        return;
    l->choice[class_id] = label.node;
    l->pricing->settle(l->pricing->context, label.node, label.value);
    for (uint32_t i = l->first_reader[class_id]; i < l->first_reader[class_id + 1]; i++)
        if (!--l->missing[l->readers[i]])
            price_node(l, l->readers[i]);
}

void labels_set(const struct extraction_problem *p, const struct label_pricing *pricing, uint32_t *ret_choice)
{
    struct labels l = {.problem = p, .pricing = pricing, .choice = ret_choice};
    for (uint32_t c = 0; c < p->n_classes; c++)
        ret_choice[c] = EXTRACTION_NONE;
    list_readers(&l);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (!l.missing[n])
            price_node(&l, n);
    while (l.heap.count)
        settle_class(&l, heap_pop(&l));
    mem_free_array(l.first_reader, p->n_classes + 2);
    mem_free_array(l.readers, p->children.count + 1);
    mem_free_array(l.missing, p->n_nodes + 1);
    vec_free(&l.heap);
}
