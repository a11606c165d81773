// Greedy extraction and the bound by cuts, whose rests drop much of the nodes; what is left is searched by branch and
// bound.
#include "egraph/extraction/best.h"
#include "core/system/clock.h"
#include "egraph/extraction/branch.h"
#include "egraph/extraction/cuts.h"
#include "egraph/extraction/greedy.h"
#include "egraph/extraction/incumbent.h"
#include <math.h>
#include <string.h>

const struct extraction_budget extraction_standard_budget = {.branches = 1000};

const char *extraction_end_text(enum extraction_end end)
{
    static const char *const texts[] = {"proved optimal", "the budget is spent", "out of time", "interrupted"};
    return texts[end];
}

static bool begin(struct incumbent *i, uint32_t *start)
{
    double cost;
    uint32_t *scratch = incumbent_choice(i, i->k);
    if (start)
        incumbent_take(i, start);
    if (!extraction_greedy_dag(i->problem, scratch, &cost))
        return false;
    incumbent_take(i, scratch);
    if (extraction_greedy_tree(i->problem, scratch, &cost))
        incumbent_take(i, scratch);
    incumbent_set_slack(i);
    return true;
}

static void offer_greedy(struct incumbent *i)
{
    LOCAL_ARRAY(uint32_t, choice, i->root.problem.n_classes + 1);
    double cost;
    if (extraction_greedy_dag(&i->root.problem, choice, &cost))
        incumbent_offer(i, choice);
}

// Raises the bound, and gives how many nodes were found too dear.
static uint32_t bound_root(struct incumbent *i, bool *is_dropped)
{
    const struct extraction_problem *p = &i->root.problem;
    struct whole_costs rests FREED_BY(whole_costs_free);
    whole_costs_init(&rests, p);
    double bound = i->root.fixed_cost + cuts_bound(p, rests.cost, INFINITY) / rests.scale;
    uint32_t n_dropped = 0;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (incumbent_excludes(i, bound + rests.cost[n] / rests.scale)) {
            is_dropped[i->root.node_of.items[n]] = true;
            n_dropped++;
        }
    i->bound = fmax(i->bound, bound);
    return n_dropped;
}

// False: nothing is left to be searched.
static bool reduce_root(struct incumbent *i, bool *is_dropped)
{
    enum { MAX_ROUNDS = 20, ONE_IN = 20 };
    struct reduction_limits limits = {.is_dropped = is_dropped};
    for (int round = 0;; round++) {
        reduction_free(&i->root);
        if (!reduction_make(i->problem, &limits, &i->root)) {
            i->bound = INFINITY;
            return false;
        }
        offer_greedy(i);
        uint32_t n_dropped = bound_root(i, is_dropped);
        if (incumbent_must_stop(i))
            return false;
        if (n_dropped * ONE_IN <= i->root.problem.n_nodes || round == MAX_ROUNDS)
            return true;
    }
}

static enum extraction_end end_of(const struct incumbent *i)
{
    if (incumbent_excludes(i, i->bound))
        return EXTRACTION_PROVED;
    if (incumbent_is_interrupted(i))
        return EXTRACTION_INTERRUPTED;
    return clock_seconds() >= i->deadline ? EXTRACTION_OUT_OF_TIME : EXTRACTION_BUDGET_SPENT;
}

static void search(struct incumbent *i, struct extraction_answer *answer)
{
    LOCAL_ZEROS(bool, is_dropped, i->problem->n_nodes + 1);
    bool is_left = !incumbent_is_interrupted(i) && reduce_root(i, is_dropped);
    answer->reduced_nodes = i->root.problem.n_nodes;
    if (is_left)
        answer->branches = incumbent_branch(i, i->budget->branches);
    reduction_free(&i->root);
    answer->end = end_of(i);
    answer->cost = i->costs[0];
    answer->bound = fmax(0, fmin(i->bound, answer->cost) - i->slack);
}

uint32_t extraction_find_cheapest(const struct extraction_problem *p, const struct extraction_budget *budget,
                                  uint32_t k, uint32_t *start, uint32_t *ret_choices, double *ret_costs,
                                  struct extraction_answer *ret_answer)
{
    struct incumbent i FREED_BY(incumbent_free);
    incumbent_init(&i, p, budget, k);
    if (begin(&i, start)) {
        *ret_answer = (struct extraction_answer){0};
        search(&i, ret_answer);
        memcpy(ret_choices, i.choices, (size_t)i.n_found * p->n_classes * sizeof *ret_choices);
        memcpy(ret_costs, i.costs, i.n_found * sizeof *ret_costs);
    }
    return i.n_found;
}
