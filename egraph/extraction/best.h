// The best selection that a budget allows, with a lower bound; often proved to be the optimum.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct extraction_problem;

// Counted work decides the result; time and Ctrl-C are further ways to stop, and the answer says so.
struct extraction_budget {
    uint64_t branches;                       // problems that the branch and bound may look at
    double seconds;                          // 0: no limit
    bool (*is_interrupted)(void *context);   // NULL: never; asked between steps
    void *context;
};
extern const struct extraction_budget extraction_standard_budget;

enum extraction_end { EXTRACTION_PROVED, EXTRACTION_BUDGET_SPENT, EXTRACTION_OUT_OF_TIME, EXTRACTION_INTERRUPTED };
struct extraction_answer {
    double cost;   // of the cheapest selection found
    // No selection costs less: rounding is taken into account, so this may be a little below `cost` always.
    double bound;
    // PROVED: no selection that was not found costs less than those that were, but for rounding.
    enum extraction_end end;
    uint64_t branches;
    uint32_t reduced_nodes;   // what the reductions left for the search
};

// The k cheapest selections, all different and settled; fewer where there are no more. The first is never worse than
// greedy extraction. `start`: a valid selection to begin with, which may be changed, and is among them unless k are
// cheaper; NULL: none. ret_choices: k times n_classes items, ret_costs: k; cheapest first, those of equal cost in the
// order of being found. Gives how many; 0: some root cannot be built (ret_answer is untouched).
uint32_t extraction_find_cheapest(const struct extraction_problem *p, const struct extraction_budget *budget,
                                  uint32_t k, uint32_t *start, uint32_t *ret_choices, double *ret_costs,
                                  struct extraction_answer *ret_answer);
const char *extraction_end_text(enum extraction_end end);
