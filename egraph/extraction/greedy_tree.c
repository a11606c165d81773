// Greedy extraction over trees (Tensat, Section 5.1): the label of a class is the cost of its cheapest tree. Where
// sharing doubles at every level labels would overflow: they end at DBL_MAX, and the order among those is by node id.
#include "egraph/extraction/greedy_tree.h"

#include "egraph/extraction/labels.h"
#include <float.h>
#include <math.h>

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
