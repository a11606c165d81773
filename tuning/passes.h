// The passes of this compiler, tuned as one space (joint/joint_search.h):
//
//     graph       which of several equal graphs is planned: the original, and what the search made of it
//     fusion      a bit for each node that a reader could be fused with: it is stored for its readers, or fused with
//                 all
//     layout      of each tensor that has a choice: the one that the solver finds for all together, or a certain one;
//                 and of all: whether it solves for what is fused now, which asks for many costs, or where all is
//     schedules   of generated kernels: worked on by tune_plan
//
// A candidate costs the sum of its steps, as the cost database knows them, measured where it does not. What was best of
// each node is kept there, too (conf_store.h), so it serves other graphs and models with the same node, and a search
// that was interrupted goes on from there.
#pragma once
#include "backends/contract/backend.h"
#include "tuning/joint/joint_search.h"
#include "tuning/tune_plan.h"

struct passes;

enum { PASS_GRAPH, PASS_FUSION, PASS_LAYOUT, PASS_SCHEDULES, N_TUNED_PASSES };
extern const char *const pass_names[N_TUNED_PASSES];
// One value after the other, the heaviest nodes first, then by annealing; each time what gains most.
extern const char *const standard_pass_schedule;

struct passes_options {
    size_t n_graphs;                     // at least 1: equal ones, that can be planned
    const struct graph *const *graphs;   // outlive the passes
    uint32_t standard_graph;             // that is taken without any search
    const char *schedule;                // of passes (pass_schedule.h); NULL: the standard one
    double seconds;
    size_t most_steps;   // 0: no limit
    uint64_t seed;
    bool has_store;                   // reads and writes ConfStore
    bool learns_nothing;              // of trials of schedules
    double (*clock)(void *context);   // on which `seconds` are counted; NULL: the clock
    void *context;
    void (*progress)(void *context, double before, double now, size_t n_steps);   // may be NULL
};
struct passes_report {
    struct joint_report joint;
    uint32_t graph;   // of the best candidate
};
struct passes *passes_new(struct backend *b);
void passes_free(struct passes *p);
// How any graph is planned by what was found so far: for `tuned` of the backend, as long as the passes are there.
const struct tuned_passes *passes_decisions(const struct passes *p);
// False: the schedule of passes is none.
bool passes_search(struct passes *p, const struct passes_options *options, struct passes_report *ret_report,
                   struct error *error);
