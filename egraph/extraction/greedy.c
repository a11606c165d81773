// Greedy extraction. Over DAGs a settled class has the set of classes that it needs and that cost something; a node
// costs its own cost and the weights of the union of its children's sets. Nodes without a cost whose children need one
// set only (splits, reshapes) share it. When the sets together are at their limit a class becomes an atom: its set is
// itself alone, with all that it needs as its weight, so sharing below it is no longer seen; time and memory stay
// bounded.
#include "egraph/extraction/greedy.h"

#include "egraph/extraction/labels.h"
#include <float.h>
#include <math.h>

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
    struct tree_costs trees = {p, mem_new_array(double, p->n_classes + 1)};
    struct labels labels;
    labels_init(&labels, p);
    labels_set(&labels, &(struct label_pricing){&trees, price_tree, settle_tree}, ret_choice);
    labels_free(&labels);
    mem_free_array(trees.cost, p->n_classes + 1);
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
    struct dag_costs d = {.problem = p};
    d.sets = mem_new_array(struct set, p->n_classes + 1);
    d.weight = mem_new_array(double, p->n_classes + 1);
    d.mark = mem_alloc_zero((p->n_classes + 1) * sizeof(uint32_t));
    struct labels labels;
    labels_init(&labels, p);
    labels_set(&labels, &(struct label_pricing){&d, price_dag, settle_dag}, ret_choice);
    labels_free(&labels);
    mem_free_array(d.sets, p->n_classes + 1);
    mem_free_array(d.weight, p->n_classes + 1);
    mem_free_array(d.mark, p->n_classes + 1);
    vec_free(&d.items);
    return extraction_settle(p, ret_choice, ret_cost);
}
