// The best selection so far and the problem that is left: what the parts of a search for the best share.
#ifndef EGRAPH_EXTRACTION_INCUMBENT_H
#define EGRAPH_EXTRACTION_INCUMBENT_H
#include "egraph/extraction/best.h"
#include "egraph/extraction/reduce.h"

struct incumbent {
    const struct extraction_problem *problem;
    const struct extraction_budget *budget;
    struct reduction root;   // what the search works on; cheaper selections than the incumbent have counterparts in it
    uint32_t *choice;        // [n_classes of `problem`] settled
    uint32_t *scratch;       // the same size
    double cost;             // INFINITY: no selection yet
    double bound;            // of all selections of `problem`
    double slack;            // more than rounding can do to a sum of costs
    double deadline;         // of clock_seconds; INFINITY: none
    uint64_t n_improvements;
};

bool incumbent_must_stop(const struct incumbent *i);
// Can selections that cost at least `bound` be left out?
bool incumbent_excludes(const struct incumbent *i, double bound);
// Takes a selection of root.problem when it is valid and cheaper.
bool incumbent_offer(struct incumbent *i, const uint32_t *choice);

// Branch and bound by cuts: looks at most at budget->branches problems, improves the incumbent, raises the bound. Gives
// how many it looked at.
uint64_t incumbent_branch(struct incumbent *i);
// Integer programs that orders of the classes restrict: solves at most budget->restarts, improves the incumbent.
uint64_t incumbent_restart(struct incumbent *i);
#endif
