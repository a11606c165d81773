// XTAT-M: one search over several passes of a compiler (Phothilimthana et al., "A Flexible Approach to Autotuning
// Multi-Pass Machine Learning Compilers", PACT 2021), which knows nothing of graphs and devices.
//
//     pass 0 ──► nodes of pass 1 ──► nodes of pass 2 ──► cost
//
// Each step changes the configuration of one pass (SelectOpt, GenerateCandidates); those of later passes are made to
// fit what is there then (FixAndApplyCandidate): a node that is still there keeps its value, another one has the best
// that was ever met of it (ConfStore), or the standard one. A candidate that is the best so far goes into that store.
//
// A pass without nodes of its own is worked on instead: it makes the best candidate cost less, whatever the
// configuration (schedules of kernels).
#pragma once
#include "tuning/joint/configuration.h"

struct joint_problem {
    void *context;
    size_t n_passes;
    uint64_t seed;
    // The nodes of a pass, where those before it are configured, of which they are a function; adds to the list, which
    // is empty.
    void (*list_nodes)(void *context, const struct joint_candidate *c, size_t pass, pass_nodes *ret_nodes);
    // INFINITY: it cannot be had. False: the search is to end. The same until something is worked on, so it is not
    // always asked again.
    bool (*evaluate)(void *context, const struct joint_candidate *c, double *ret_cost);
    // Works on a pass that has no nodes. False: nothing is left to do. NULL: there is no such pass.
    bool (*work)(void *context, const struct joint_candidate *best, size_t pass);
    // ConfStore; NULL: there is none.
    recall_value_fn *recall;
    void (*keep)(void *context, size_t pass, const struct setting *setting);
    double (*clock)(void *context);                                                   // on which the budget is counted
    void (*tell)(void *context, double before, const struct joint_candidate *best);   // after each step; NULL: nobody
};
struct pass_report {
    size_t n_steps, n_gains;
    double gain;    // times as fast by steps of this pass; 1: not at all
    double spent;   // of the budget
};
struct joint_report {
    double before, after;   // cost of the standard candidate and of the best
    double at_start;        // of the better of the standard one and of the one that the store knew
    double started;         // on the clock, when the budget began
    struct pass_report of[MOST_PASSES];
};
// Gives the best candidate; the caller frees it. The budget begins when the first candidates have their costs.
// At most so many steps (0: as many as the budget has).
void joint_search(const struct joint_problem *problem, const struct pass_schedule *schedule, double budget,
                  size_t most_steps, struct joint_candidate *ret_best, struct joint_report *ret_report);
