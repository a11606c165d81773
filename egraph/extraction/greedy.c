// Each node enters the heap of label setting once, when the last of its children is settled ("A generalization of
// Dijkstra's algorithm", 1977).
//
// Greedy extraction. Over DAGs a settled class has the set of classes that it needs and that cost something; a node
// costs its own cost and the weights of the union of its children's sets. Nodes without a cost whose children need one
// set only (splits, reshapes) share it. When the sets together are at their limit a class becomes an atom: its set is
// itself alone, with all that it needs as its weight, so sharing below it is no longer seen; time and memory stay
// bounded.
#include "egraph/extraction/greedy.h"

#include "core/memory/arena.h"
#include "core/memory/heap.h"
#include <float.h>
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

// --- over trees ------------------------------------------------------------------------------------------------------

// Labels of trees would overflow where sharing doubles at every level: they end at DBL_MAX, in the order of node ids.
struct tree_costs {
    const struct extraction_problem *problem;
    double *cost;   // [n_classes] of its tree
};

static double price_tree(void *context, uint32_t node)
{
    const struct tree_costs *t = context;
    double cost = t->problem->nodes.items[node].cost;
    for (uint32_t i = 0; i < extraction_n_children(t->problem, node); i++)
        cost += t->cost[extraction_children(t->problem, node)[i]];
    return fmin(cost, DBL_MAX);
}

static void settle_tree(void *context, uint32_t node, double cost)
{
    const struct tree_costs *t = context;
    t->cost[t->problem->nodes.items[node].class_id] = cost;
}

bool extraction_greedy_tree(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost)
{
    LOCAL_ARRAY(double, costs, p->n_classes + 1);
    struct tree_costs trees = {p, costs};
    struct labels labels FREED_BY(labels_free);
    labels_init(&labels, p);
    labels_set(&labels, &(struct label_pricing){&trees, price_tree, settle_tree}, ret_choice);
    return extraction_settle(p, ret_choice, ret_cost);
}

// --- over DAGs -------------------------------------------------------------------------------------------------------

enum { MAX_ITEMS = 1 << 26, MAX_WORK = 1 << 30 };   // of all sets, and of all unions

struct set {
    uint32_t first, count;   // in items
};
struct dag_costs {
    const struct extraction_problem *problem;
    struct set *sets;        // [n_classes]
    double *weight;          // [n_classes] what it adds to a set that has it
    uint32_t *mark, stamp;   // [n_classes] who is in the union that is being made
    VEC(uint32_t) items;
    int64_t work;
};

static bool is_new(struct dag_costs *d, uint32_t class_id)
{
    bool is_absent = d->mark[class_id] != d->stamp;
    d->mark[class_id] = d->stamp;
    return is_absent;
}

static double price_dag(void *context, uint32_t node)
{
    struct dag_costs *d = context;
    double cost = d->problem->nodes.items[node].cost;
    d->stamp++;
    for (uint32_t i = 0; i < extraction_n_children(d->problem, node); i++) {
        struct set set = d->sets[extraction_children(d->problem, node)[i]];
        for (uint32_t k = 0; k < set.count; k++) {
            uint32_t item = d->items.items[set.first + k];
            if (is_new(d, item))
                cost += d->weight[item];
        }
        d->work += set.count;
    }
    return fmin(cost, DBL_MAX);
}

// The one set that all children with a set have; with count 0 when there is none, or more than one.
static struct set common_set(const struct dag_costs *d, uint32_t node)
{
    struct set common = {0};
    for (uint32_t i = 0; i < extraction_n_children(d->problem, node); i++) {
        struct set set = d->sets[extraction_children(d->problem, node)[i]];
        if (set.count && common.count && set.first != common.first)
            return (struct set){0};
        common = set.count ? set : common;
    }
    return common;
}

static void add_items(struct dag_costs *d, struct set set)
{
    vec_reserve(&d->items, d->items.count + set.count);
    for (uint32_t k = 0; k < set.count; k++) {
        uint32_t item = d->items.items[set.first + k];
        if (is_new(d, item))
            vec_push(&d->items, item);
    }
}

static struct set make_union(struct dag_costs *d, uint32_t node, uint32_t own_class)
{
    uint32_t first = (uint32_t)d->items.count;
    d->stamp++;
    for (uint32_t i = 0; i < extraction_n_children(d->problem, node); i++)
        add_items(d, d->sets[extraction_children(d->problem, node)[i]]);
    if (d->weight[own_class] > 0)
        vec_push(&d->items, own_class);
    return (struct set){first, (uint32_t)d->items.count - first};
}

static struct set make_atom(struct dag_costs *d, uint32_t own_class, double cost)
{
    d->weight[own_class] = cost;
    vec_push(&d->items, own_class);
    return (struct set){(uint32_t)d->items.count - 1, 1};
}

static void settle_dag(void *context, uint32_t node, double cost)
{
    struct dag_costs *d = context;
    uint32_t own_class = d->problem->nodes.items[node].class_id;
    d->weight[own_class] = d->problem->nodes.items[node].cost;
    struct set shared = d->weight[own_class] > 0 ? (struct set){0} : common_set(d, node);
    if (shared.count)
        d->sets[own_class] = shared;
    else if (d->items.count >= MAX_ITEMS || d->work >= MAX_WORK)
        d->sets[own_class] = make_atom(d, own_class, cost);
    else
        d->sets[own_class] = make_union(d, node, own_class);
}

bool extraction_greedy_dag(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost)
{
    ARENA(arena);
    struct dag_costs d = {.problem = p};
    d.sets = arena_array(&arena, struct set, p->n_classes + 1);
    d.weight = arena_array(&arena, double, p->n_classes + 1);
    d.mark = arena_array(&arena, uint32_t, p->n_classes + 1);
    struct labels labels FREED_BY(labels_free);
    labels_init(&labels, p);
    labels_set(&labels, &(struct label_pricing){&d, price_dag, settle_dag}, ret_choice);
    vec_free(&d.items);
    return extraction_settle(p, ret_choice, ret_cost);
}
