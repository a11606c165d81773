// Rank-restricted problems. Every class gets a rank, by an order that keeps the incumbent's nodes; only nodes that read
// lower ranks alone may be taken. So no cycle is possible, and the rest of a large e-graph is often small enough for
// branch and bound. Another order with the same property follows, and so on: the incumbent only gets better.
//
// Orders come from label setting with prices by class: random ones, with classes first that the incumbent does not take
// (so that those it takes may read them), or those that cost nothing (splits and concatenations), or both.
#include "egraph/extraction/restart.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "egraph/extraction/cuts.h"
#include "egraph/extraction/greedy.h"
#include <math.h>
#include <string.h>

enum { UNTAKEN_FIRST = 1, FREE_FIRST = 2, N_STRATEGIES = 4 };

struct restarting {
    struct incumbent *incumbent;
    const struct extraction_problem *problem;   // root.problem, as is all that follows
    uint32_t *choice, *found, *settled;         // [n_classes] the incumbent, a new one, who settled the ranks
    double cost;
    struct labels labels;
    double *key;     // [n_classes] random, for one order
    bool *is_free;   // [n_classes] has a node without a cost
    uint32_t *rank, n_ranked;
    bool *is_dropped;   // [n_nodes] too dear under the present order
    struct random random;
};

static double price_of_class(void *context, uint32_t node)
{
    const struct restarting *r = context;
    uint32_t class_id = r->problem->nodes.items[node].class_id;
    bool is_kept = r->choice[class_id] == EXTRACTION_NONE || r->choice[class_id] == node;
    return is_kept ? r->key[class_id] : INFINITY;
}

static void rank_class(void *context, uint32_t node, double key)
{
    struct restarting *r = context;
    r->rank[r->problem->nodes.items[node].class_id] = r->n_ranked++;
}

static void order_classes(struct restarting *r, unsigned strategy)
{
    for (uint32_t c = 0; c < r->problem->n_classes; c++) {
        bool is_first =
            (strategy & UNTAKEN_FIRST && r->choice[c] == EXTRACTION_NONE) || (strategy & FREE_FIRST && r->is_free[c]);
        r->key[c] = random_unit(&r->random) + (is_first ? 0 : 1);
    }
    r->n_ranked = 0;
    labels_set(&r->labels, &(struct label_pricing){r, price_of_class, rank_class}, r->settled);
}

// The problem that is left under an order, without what cannot be cheaper than the incumbent. False: nothing is.
static bool restrict_problem(struct restarting *r, struct reduction *ret_restricted)
{
    const struct incumbent *i = r->incumbent;
    struct reduction_limits limits = {.rank = r->rank, .is_dropped = r->is_dropped};
    memset(r->is_dropped, 0, r->problem->n_nodes);
    for (bool is_last = false;; is_last = true) {
        if (!reduction_make(r->problem, &limits, ret_restricted))
            return false;
        struct whole_costs rests FREED_BY(whole_costs_free);
        whole_costs_init(&rests, &ret_restricted->problem);
        double fixed = i->root.fixed_cost + ret_restricted->fixed_cost;
        double bound = fixed + cuts_bound(&ret_restricted->problem, rests.cost, INFINITY) / rests.scale;
        for (uint32_t n = 0; n < ret_restricted->problem.n_nodes; n++)
            if (incumbent_excludes(i, bound + rests.cost[n] / rests.scale))
                r->is_dropped[ret_restricted->node_of.items[n]] = true;
        if (is_last && !incumbent_excludes(i, bound))
            return true;
        reduction_free(ret_restricted);
        if (incumbent_excludes(i, bound))
            return false;
    }
}

static bool solve_by_branching(const struct restarting *r, const struct extraction_problem *p, uint32_t *choice)
{
    const struct incumbent *i = r->incumbent;
    struct extraction_budget budget = *i->budget;
    struct extraction_answer answer;
    double cost;
    budget.branches /= 10;
    budget.restarts = 0;
    budget.seconds = isfinite(i->deadline) ? fmax(0.01, i->deadline - clock_seconds()) : 0;
    return i->find_cheapest(p, &budget, 1, NULL, choice, &cost, &answer) > 0;
}

// Gives whether something cheaper was found.
static bool solve_restricted(struct restarting *r, const struct reduction *restricted)
{
    LOCAL_ARRAY(uint32_t, choice, restricted->problem.n_classes + 1);
    double cost;
    if (!solve_by_branching(r, &restricted->problem, choice))
        return false;
    reduction_lift(restricted, choice, r->found);
    incumbent_offer(r->incumbent, r->found);
    if (!extraction_settle(r->problem, r->found, &cost) || cost >= r->cost)
        return false;
    memcpy(r->choice, r->found, r->problem->n_classes * sizeof *r->choice);
    r->cost = cost;
    return true;
}

static bool restart(struct restarting *r, unsigned strategy)
{
    struct reduction restricted FREED_BY(reduction_free) = {0};
    order_classes(r, strategy);
    return restrict_problem(r, &restricted) && solve_restricted(r, &restricted);
}

static uint64_t restart_until_spent(struct restarting *r)
{
    const struct extraction_budget *budget = r->incumbent->budget;
    uint64_t n_restarts = 0, n_idle = 0;
    while (n_restarts < budget->restarts && n_idle < budget->patience && !incumbent_must_stop(r->incumbent)) {
        bool is_better = restart(r, (unsigned)(n_restarts % N_STRATEGIES));
        n_idle = is_better ? 0 : n_idle + 1;
        n_restarts++;
    }
    return n_restarts;
}

static void mark_free(struct restarting *r)
{
    for (uint32_t n = 0; n < r->problem->n_nodes; n++)
        if (r->problem->nodes.items[n].cost == 0)
            r->is_free[r->problem->nodes.items[n].class_id] = true;
}

// The incumbent itself has no counterpart when it takes what the reduction found dispensable.
static bool take_incumbent(struct restarting *r)
{
    reduction_lower(&r->incumbent->root, r->incumbent->choices, r->choice);
    return extraction_settle(r->problem, r->choice, &r->cost) || extraction_greedy_dag(r->problem, r->choice, &r->cost);
}

uint64_t incumbent_restart(struct incumbent *i)
{
    ARENA(arena);
    const struct extraction_problem *p = &i->root.problem;
    struct restarting r = {.incumbent = i, .problem = p, .random = random_seed(i->budget->seed)};
    r.choice = arena_array(&arena, uint32_t, p->n_classes + 1);
    r.found = arena_array(&arena, uint32_t, p->n_classes + 1);
    r.settled = arena_array(&arena, uint32_t, p->n_classes + 1);
    r.rank = arena_array(&arena, uint32_t, p->n_classes + 1);
    r.key = arena_array(&arena, double, p->n_classes + 1);
    r.is_free = arena_array(&arena, bool, p->n_classes + 1);
    r.is_dropped = arena_array(&arena, bool, p->n_nodes + 1);
    labels_init(&r.labels, p);
    mark_free(&r);
    uint64_t n_restarts = take_incumbent(&r) ? restart_until_spent(&r) : 0;
    labels_free(&r.labels);
    return n_restarts;
}
