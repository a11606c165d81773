// The kept selections, and what they exclude.
#include "egraph/extraction/incumbent.h"
#include "core/system/clock.h"
#include <float.h>
#include <math.h>
#include <string.h>

bool incumbent_is_interrupted(const struct incumbent *i)
{
    return i->budget->is_interrupted && i->budget->is_interrupted(i->budget->context);
}

bool incumbent_must_stop(const struct incumbent *i)
{
    return incumbent_excludes(i, i->bound) || incumbent_is_interrupted(i) || clock_seconds() >= i->deadline;
}

bool incumbent_excludes(const struct incumbent *i, double bound)
{
    return bound >= i->limit - i->slack;
}

uint32_t *incumbent_choice(const struct incumbent *i, uint32_t place)
{
    return i->choices + (size_t)place * i->problem->n_classes;
}

static bool is_known(const struct incumbent *i, const uint32_t *choice, double cost)
{
    return ANY(uint32_t, place, i->n_found,
               i->costs[place] == cost &&
                   !memcmp(incumbent_choice(i, place), choice, i->problem->n_classes * sizeof *choice));
}

// Choices stand behind those that cost no more; the last one goes when there are too many.
static void insert_choice(struct incumbent *i, const uint32_t *choice, double cost)
{
    size_t bytes = i->problem->n_classes * sizeof *choice;
    uint32_t place = i->n_found < i->k ? i->n_found++ : i->k - 1;
    for (; place && i->costs[place - 1] > cost; place--) {
        memcpy(incumbent_choice(i, place), incumbent_choice(i, place - 1), bytes);
        i->costs[place] = i->costs[place - 1];
    }
    memcpy(incumbent_choice(i, place), choice, bytes);
    i->costs[place] = cost;
    i->limit = i->n_found == i->k ? i->costs[i->k - 1] : INFINITY;
}

// May change `choice`, which is none of the kept ones.
bool incumbent_take(struct incumbent *i, uint32_t *choice)
{
    double cost;
    if (!extraction_settle(i->problem, choice, &cost) || cost >= i->limit || is_known(i, choice, cost))
        return false;
    insert_choice(i, choice, cost);
    return true;
}

bool incumbent_offer(struct incumbent *i, const uint32_t *choice)
{
    uint32_t *scratch = incumbent_choice(i, i->k);
    reduction_lift(&i->root, choice, scratch);
    return incumbent_take(i, scratch);
}

// A sum of n costs is off by less than n roundings of the whole; costs are moved and paid in advance a few times.
void incumbent_set_slack(struct incumbent *i)
{
    i->slack = 4 * ((double)i->problem->n_nodes + 64) * DBL_EPSILON * i->costs[i->n_found - 1];
}

void incumbent_init(struct incumbent *i, const struct extraction_problem *p, const struct extraction_budget *budget,
                    uint32_t k)
{
    *i = (struct incumbent){.problem = p, .budget = budget, .k = k, .limit = INFINITY};
    i->deadline = budget->seconds > 0 ? clock_seconds() + budget->seconds : INFINITY;
    i->choices = mem_new_array(uint32_t, (size_t)(k + 1) * p->n_classes + 1);
    i->costs = mem_new_array(double, k);
}

void incumbent_free(struct incumbent *i)
{
    mem_free_array(i->choices, (size_t)(i->k + 1) * i->problem->n_classes + 1);
    mem_free_array(i->costs, i->k);
}
