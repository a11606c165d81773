// Repeats the steps until nothing changes. Costs that are moved or paid in advance only serve to compare selections:
// what a selection costs is always summed anew over the original nodes.
#include "egraph/extraction/reduce.h"
#include "egraph/extraction/draft.h"
#include "egraph/extraction/reduce_kill.h"
#include "egraph/extraction/reduce_merge.h"
#include <string.h>

enum { MAX_ROUNDS = 100 };

static bool breaks_ranks(const struct draft_node *n, const uint32_t *rank)
{
    for (uint32_t i = 0; i < n->n_children; i++)
        if (rank[n->children[i]] >= rank[n->class_id])
            return true;
    return false;
}

static void apply_limits(struct draft *d, const struct reduction_limits *limits)
{
    for (uint32_t n = 0; n < d->origin->n_nodes; n++)
        if ((limits->is_dropped && limits->is_dropped[n]) || (limits->rank && breaks_ranks(&d->nodes[n], limits->rank)))
            draft_kill(d, n);
    for (uint32_t i = 0; i < limits->n_needed; i++)
        d->is_needed[limits->needed[i]] = true;
}

// Needs are spread only while every class that is reached can be built.
static bool is_solvable(const struct draft *d)
{
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        if (d->is_needed[c] && !d->n_alive[c])
            return false;
    return true;
}

static bool reduce_quickly(struct draft *d, const struct reduction_limits *limits)
{
    d->has_changed = true;
    for (int round = 0; d->has_changed && round < MAX_ROUNDS; round++) {
        d->has_changed = false;
        reduce_kill_unbuildable(d);
        if (!is_solvable(d))
            return false;
        reduce_spread_needs(d);
        reduce_kill_unreached(d);
        reduce_pay_needed(d);
        reduce_forget_needed(d);
        reduce_put_away(d);
    }
    // The last round, if it ended by its number, may have left what cannot be built or is not reached.
    reduce_kill_unbuildable(d);
    reduce_kill_unreached(d);
    return is_solvable(d);
}

static bool reduce(struct draft *d, const struct reduction_limits *limits)
{
    bool is_possible = reduce_quickly(d, limits);
    while (is_possible && limits->is_thorough) {
        d->has_changed = false;
        reduce_find_landmarks(d);
        if (!d->has_changed)
            break;
        is_possible = reduce_quickly(d, limits);
    }
    return is_possible;
}

bool reduction_make(const struct extraction_problem *p, const struct reduction_limits *limits,
                    struct reduction *ret_reduction)
{
    struct draft d;
    struct reduction r = {.n_original = p->n_classes};
    draft_init(&d, p);
    apply_limits(&d, limits);
    bool is_possible = reduce(&d, limits);
    if (is_possible) {
        vec_reserve(&r.class_of, p->n_classes + 1);
        vec_reserve(&r.node_of, p->n_nodes + 1);
        draft_compile(&d, &r.problem, r.class_of.items, r.node_of.items);
        r.fixed_cost = d.fixed_cost;
        r.single = mem_new_array(uint32_t, p->n_classes + 1);
        memcpy(r.single, d.single, p->n_classes * sizeof *r.single);
        *ret_reduction = r;
    }
    draft_free(&d);
    return is_possible;
}

void reduction_lift(const struct reduction *r, const uint32_t *choice, uint32_t *ret_original)
{
    if (r->n_original)
        memcpy(ret_original, r->single, r->n_original * sizeof *ret_original);
    for (uint32_t c = 0; c < r->problem.n_classes; c++)
        if (choice[c] != EXTRACTION_NONE)
            ret_original[r->class_of.items[c]] = r->node_of.items[choice[c]];
}

void reduction_lower(const struct reduction *r, const uint32_t *choice, uint32_t *ret_reduced)
{
    for (uint32_t c = 0; c < r->problem.n_classes; c++)
        ret_reduced[c] = EXTRACTION_NONE;
    for (uint32_t n = 0; n < r->problem.n_nodes; n++) {
        uint32_t class_id = r->problem.nodes.items[n].class_id;
        if (choice[r->class_of.items[class_id]] == r->node_of.items[n])
            ret_reduced[class_id] = n;
    }
}

void reduction_free(struct reduction *r)
{
    extraction_free(&r->problem);
    vec_free(&r->node_of);
    vec_free(&r->class_of);
    mem_free_array(r->single, r->single ? r->n_original + 1 : 0);
    *r = (struct reduction){0};
}
