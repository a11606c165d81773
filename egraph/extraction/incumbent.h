// The cheapest selections so far and the problem that is left: what all of a search for the best share.
#pragma once
#include "egraph/extraction/best.h"
#include "egraph/extraction/reduce.h"

struct incumbent {
    const struct extraction_problem *problem;
    const struct extraction_budget *budget;
    struct reduction root;   // what the search works on: selections that are still of interest have counterparts in it
    uint32_t k, n_found;     // selections that are wanted, that there are
    uint32_t *choices;   // [k + 1][n_classes of `problem`] settled, all different, cheapest first; the last is scratch
    double *costs;       // [k]
    double limit;        // what a selection must cost less than: that of the k-th, INFINITY while there are fewer
    double bound;        // of all selections that are not among them and cost less than the limit
    double slack;        // more than rounding can do to a sum of costs
    double deadline;     // of clock_seconds; INFINITY: none
};

void incumbent_init(struct incumbent *i, const struct extraction_problem *p, const struct extraction_budget *budget,
                    uint32_t k);
void incumbent_free(struct incumbent *i);
void incumbent_set_slack(struct incumbent *i);                           // once the first selections are there
uint32_t *incumbent_choice(const struct incumbent *i, uint32_t place);   // the k-th: scratch
bool incumbent_is_interrupted(const struct incumbent *i);
bool incumbent_must_stop(const struct incumbent *i);
// Can selections that cost at least `bound` be left out?
bool incumbent_excludes(const struct incumbent *i, double bound);
// Takes a selection of `problem`, which may be changed, when it is valid, new, and cheaper than the limit. Gives
// whether it was taken.
bool incumbent_take(struct incumbent *i, uint32_t *choice);
// The same for a selection of root.problem, which is not changed.
bool incumbent_offer(struct incumbent *i, const uint32_t *choice);
