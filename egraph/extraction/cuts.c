// The label of a class is what it costs when of all children of a node only the dearest counts (h-max). A node hangs on
// its dearest child; in the graph of these edges the goal zone is what leads to the roots for nothing, and a cut is
// every node that leads into the zone from outside, as far as that can be reached from the leaves.
//
//   leaves ──►  ( before )  ──cut──►  ( goal zone ) ──0──►  roots
#include "egraph/extraction/cuts.h"
#include "core/memory/arena.h"
#include "egraph/extraction/greedy.h"
#include <math.h>
#include <string.h>

#define UNUSABLE (EXTRACTION_NONE - 1)

enum zone { NO_ZONE, GOAL_ZONE, BEFORE_ZONE };
struct cutting {
    const struct extraction_problem *problem;
    double *rest;
    struct labels labels;
    double *label;       // [n_classes] INFINITY: cannot be built
    uint32_t *dearest;   // [n_nodes] the child that it hangs on; EXTRACTION_NONE: none; UNUSABLE
    uint32_t *choice;    // [n_classes]
    uint8_t *zone;       // [n_classes] enum zone
    VEC(uint32_t) queue, cut;
};

void whole_costs_init(struct whole_costs *ret_costs, const struct extraction_problem *p)
{
    double total = 1e-200;   // so that the scale of what costs nothing is finite
    for (uint32_t n = 0; n < p->n_nodes; n++)
        total += isfinite(p->nodes.items[n].cost) ? p->nodes.items[n].cost : 0;
    *ret_costs = (struct whole_costs){mem_new_array(double, p->n_nodes + 1), ldexp(1, 51 - ilogb(total)), p->n_nodes};
    for (uint32_t n = 0; n < p->n_nodes; n++)
        ret_costs->cost[n] = floor(p->nodes.items[n].cost * ret_costs->scale);
}

void whole_costs_free(struct whole_costs *costs)
{
    mem_free_array(costs->cost, costs->n_nodes + 1);
}

static double label_of_dearest(const struct cutting *c, uint32_t node, uint32_t *ret_dearest)
{
    double label = 0;
    *ret_dearest = EXTRACTION_NONE;
    for (uint32_t i = 0; i < extraction_n_children(c->problem, node); i++) {
        uint32_t child = extraction_children(c->problem, node)[i];
        if (*ret_dearest == EXTRACTION_NONE || c->label[child] > label) {
            *ret_dearest = child;
            label = c->label[child];
        }
    }
    return label;
}

static double price_by_dearest(void *context, uint32_t node)
{
    const struct cutting *c = context;
    uint32_t dearest;
    return c->rest[node] + label_of_dearest(c, node, &dearest);
}

static void settle_label(void *context, uint32_t node, double label)
{
    struct cutting *c = context;
    c->label[c->problem->nodes.items[node].class_id] = label;
}

static void set_labels(struct cutting *c)
{
    const struct extraction_problem *p = c->problem;
    for (uint32_t i = 0; i < p->n_classes; i++)
        c->label[i] = INFINITY;
    labels_set(&c->labels, &(struct label_pricing){c, price_by_dearest, settle_label}, c->choice);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (!isfinite(c->rest[n] + label_of_dearest(c, n, &c->dearest[n])))
            c->dearest[n] = UNUSABLE;
}

// The label becomes what the node costs now, if that is less.
static void lower_label(struct cutting *c, uint32_t node)
{
    uint32_t class_id = c->problem->nodes.items[node].class_id;
    double label = c->rest[node] + label_of_dearest(c, node, &c->dearest[node]);
    if (label >= c->label[class_id])
        return;
    c->label[class_id] = label;
    vec_push(&c->queue, class_id);
}

// After the rests of the cut became less. The label of a node changes only with that of the child that it hangs on.
static void lower_labels(struct cutting *c)
{
    const struct labels *l = &c->labels;
    for (size_t i = 0; i < c->cut.count; i++)
        lower_label(c, c->cut.items[i]);
    for (size_t next = 0; next < c->queue.count; next++) {
        uint32_t class_id = c->queue.items[next];
        for (uint32_t i = l->first_reader[class_id]; i < l->first_reader[class_id + 1]; i++)
            if (c->dearest[l->readers[i]] == class_id)
                lower_label(c, l->readers[i]);
    }
    vec_clear(&c->queue);
}

static uint32_t dearest_root(const struct cutting *c)
{
    const struct extraction_problem *p = c->problem;
    uint32_t root = p->roots.items[0];
    for (size_t i = 1; i < p->roots.count; i++)
        if (c->label[p->roots.items[i]] > c->label[root])
            root = p->roots.items[i];
    return root;
}

static void enter_zone(struct cutting *c, uint32_t class_id, enum zone zone)
{
    if (c->zone[class_id] != NO_ZONE)
        return;
    c->zone[class_id] = (uint8_t)zone;
    vec_push(&c->queue, class_id);
}

static void mark_goal_zone(struct cutting *c, uint32_t root)
{
    const struct extraction_problem *p = c->problem;
    memset(c->zone, NO_ZONE, p->n_classes);
    enter_zone(c, root, GOAL_ZONE);
    while (c->queue.count) {
        uint32_t class_id = vec_pop(&c->queue);
        for (uint32_t i = p->first.items[class_id]; i < p->first.items[class_id + 1]; i++) {
            uint32_t node = p->members.items[i];
            if (c->rest[node] == 0 && c->dearest[node] < UNUSABLE)
                enter_zone(c, c->dearest[node], GOAL_ZONE);
        }
    }
}

static void pass_node(struct cutting *c, uint32_t node)
{
    uint32_t class_id = c->problem->nodes.items[node].class_id;
    if (c->zone[class_id] == GOAL_ZONE)
        vec_push(&c->cut, node);
    else
        enter_zone(c, class_id, BEFORE_ZONE);
}

// A node that names a child twice is among its readers twice, one after the other.
static void find_cut(struct cutting *c)
{
    const struct labels *l = &c->labels;
    vec_clear(&c->cut);
    for (uint32_t n = 0; n < c->problem->n_nodes; n++)
        if (c->dearest[n] == EXTRACTION_NONE)
            pass_node(c, n);
    while (c->queue.count) {
        uint32_t class_id = vec_pop(&c->queue);
        for (uint32_t i = l->first_reader[class_id]; i < l->first_reader[class_id + 1]; i++) {
            bool is_repeated = i > l->first_reader[class_id] && l->readers[i] == l->readers[i - 1];
            if (c->dearest[l->readers[i]] == class_id && !is_repeated)
                pass_node(c, l->readers[i]);
        }
    }
}

static double take_cut(struct cutting *c)
{
    double worth = SMALLEST(double, INFINITY, size_t, i, c->cut.count, c->rest[c->cut.items[i]]);
    for (size_t i = 0; i < c->cut.count; i++)
        c->rest[c->cut.items[i]] -= worth;
    return worth;
}

static double sum_cuts(struct cutting *c, double enough)
{
    double bound = 0;
    set_labels(c);
    while (bound < enough) {
        uint32_t root = dearest_root(c);
        if (!isfinite(c->label[root]))
            return INFINITY;
        if (c->label[root] == 0)
            break;
        mark_goal_zone(c, root);
        find_cut(c);
        bound += take_cut(c);
        lower_labels(c);
    }
    return bound;
}

double cuts_bound(const struct extraction_problem *p, double *rest, double enough)
{
    ARENA(arena);
    struct cutting c = {.problem = p, .rest = rest};
    if (!p->roots.count)
        return 0;
    labels_init(&c.labels, p);
    c.label = arena_array(&arena, double, p->n_classes + 1);
    c.dearest = arena_array(&arena, uint32_t, p->n_nodes + 1);
    c.choice = arena_array(&arena, uint32_t, p->n_classes + 1);
    c.zone = arena_array(&arena, uint8_t, p->n_classes + 1);
    double bound = sum_cuts(&c, enough);
    labels_free(&c.labels);
    vecs_free(&c, queue, cut);
    return bound;
}
