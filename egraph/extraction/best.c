// Greedy extraction and the bound by cuts, whose rests drop most of the nodes; branch and bound on what is left; then
// integer programs that orders restrict.
#include "egraph/extraction/best.h"
#include "core/clock.h"
#include "egraph/extraction/cuts.h"
#include "egraph/extraction/greedy.h"
#include "egraph/extraction/incumbent.h"
#include <float.h>
#include <math.h>
#include <string.h>

const struct extraction_budget extraction_standard_budget = {
    .branches = 1000, .restarts = 200, .patience = 50, .ilp_nodes = 1000, .seed = 1};

const char *extraction_end_text(enum extraction_end end)
{
    static const char *const texts[] = {"proved optimal", "the budget is spent", "out of time", "interrupted"};
    return texts[end];
}

static bool is_interrupted(const struct extraction_budget *budget)
{
    return budget->is_interrupted && budget->is_interrupted(budget->context);
}

bool incumbent_must_stop(const struct incumbent *i)
{
    return incumbent_excludes(i, i->bound) || is_interrupted(i->budget) || clock_seconds() >= i->deadline;
}

bool incumbent_excludes(const struct incumbent *i, double bound)
{
    return bound >= i->cost - i->slack;
}

static bool take_if_cheaper(struct incumbent *i, uint32_t *choice)
{
    double cost;
    if (!extraction_settle(i->problem, choice, &cost) || cost >= i->cost)
        return false;
    memcpy(i->choice, choice, i->problem->n_classes * sizeof *choice);
    i->cost = cost;
    i->n_improvements++;
    return true;
}

bool incumbent_offer(struct incumbent *i, const uint32_t *choice)
{
    reduction_lift(&i->root, choice, i->scratch);
    return take_if_cheaper(i, i->scratch);
}

// A sum of n costs is off by less than n roundings of the whole; costs are moved and paid in advance a few times.
static double slack_of(const struct extraction_problem *p, double cost)
{
    return 4 * ((double)p->n_nodes + 64) * DBL_EPSILON * cost;
}

static bool begin(struct incumbent *i, bool has_start, uint32_t *start)
{
    double cost;
    i->cost = INFINITY;
    if (has_start)
        take_if_cheaper(i, start);
    if (!extraction_greedy_dag(i->problem, i->scratch, &cost))
        return false;
    take_if_cheaper(i, i->scratch);
    if (extraction_greedy_tree(i->problem, i->scratch, &cost))
        take_if_cheaper(i, i->scratch);
    i->slack = slack_of(i->problem, i->cost);
    i->n_improvements = 0;
    return true;
}

static void offer_greedy(struct incumbent *i)
{
    uint32_t *choice = mem_new_array(uint32_t, i->root.problem.n_classes + 1);
    double cost;
    if (extraction_greedy_dag(&i->root.problem, choice, &cost))
        incumbent_offer(i, choice);
    mem_free_array(choice, i->root.problem.n_classes + 1);
}

// Raises the bound, and gives how many nodes were found too dear.
static uint32_t bound_root(struct incumbent *i, bool *is_dropped)
{
    const struct extraction_problem *p = &i->root.problem;
    struct whole_costs rests;
    whole_costs_init(&rests, p);
    double bound = i->root.fixed_cost + cuts_bound(p, rests.cost, INFINITY, UINT64_MAX) / rests.scale;
    uint32_t n_dropped = 0;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (incumbent_excludes(i, bound + rests.cost[n] / rests.scale)) {
            is_dropped[i->root.node_of.items[n]] = true;
            n_dropped++;
        }
    i->bound = fmax(i->bound, fmin(bound, i->cost));
    whole_costs_free(&rests);
    return n_dropped;
}

// False: what is left has no selection, so none is cheaper than the incumbent.
static bool reduce_root(struct incumbent *i, bool *is_dropped)
{
    enum { MAX_ROUNDS = 20, ONE_IN = 20 };
    struct reduction_limits limits = {.is_dropped = is_dropped};
    for (int round = 0;; round++) {
        if (!reduction_make(i->problem, &limits, &i->root)) {
            i->root = (struct reduction){0};
            i->bound = i->cost;
            return false;
        }
        offer_greedy(i);
        uint32_t n_dropped = bound_root(i, is_dropped);
        if (n_dropped * ONE_IN <= i->root.problem.n_nodes || round == MAX_ROUNDS || incumbent_must_stop(i))
            return true;
        reduction_free(&i->root);
    }
}

static enum extraction_end end_of(const struct incumbent *i)
{
    if (incumbent_excludes(i, i->bound))
        return EXTRACTION_PROVED;
    if (is_interrupted(i->budget))
        return EXTRACTION_INTERRUPTED;
    return clock_seconds() >= i->deadline ? EXTRACTION_OUT_OF_TIME : EXTRACTION_BUDGET_SPENT;
}

static struct extraction_answer search(struct incumbent *i)
{
    struct extraction_answer answer = {0};
    bool *is_dropped = mem_alloc_zero(i->problem->n_nodes + 1);
    if (reduce_root(i, is_dropped)) {
        answer.reduced_nodes = i->root.problem.n_nodes;
        answer.reduced_classes = i->root.problem.n_classes;
        answer.branches = incumbent_must_stop(i) ? 0 : incumbent_branch(i);
        answer.restarts = incumbent_must_stop(i) ? 0 : incumbent_restart(i);
        reduction_free(&i->root);
    }
    mem_free(is_dropped, i->problem->n_nodes + 1);
    answer.end = end_of(i);
    answer.cost = i->cost;
    answer.bound = fmax(0, i->bound - i->slack);
    answer.improvements = i->n_improvements;
    return answer;
}

bool extraction_find_best(const struct extraction_problem *p, const struct extraction_budget *budget, bool has_start,
                          uint32_t *ret_choice, struct extraction_answer *ret_answer)
{
    struct incumbent i = {.problem = p, .budget = budget, .bound = 0};
    i.deadline = budget->seconds > 0 ? clock_seconds() + budget->seconds : INFINITY;
    i.choice = mem_new_array(uint32_t, p->n_classes + 1);
    i.scratch = mem_new_array(uint32_t, p->n_classes + 1);
    bool is_possible = begin(&i, has_start, ret_choice);
    if (is_possible) {
        *ret_answer = search(&i);
        memcpy(ret_choice, i.choice, p->n_classes * sizeof *ret_choice);
    }
    mem_free_array(i.choice, p->n_classes + 1);
    mem_free_array(i.scratch, p->n_classes + 1);
    return is_possible;
}
