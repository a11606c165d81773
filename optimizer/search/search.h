// The cost-based backtracking search of the TASO paper (Section 5, Algorithm 2): a queue of graphs by cost; the
// cheapest is expanded by every match of every rule; a result is queued unless it costs more than alpha times the best
// so far.
//
// A queued candidate is a match in its parent with an estimated cost (neighbourhood.h); it becomes a graph when it is
// the cheapest. Then its types are checked, cycles rejected, its whole cost taken, and it is compared with all graphs
// seen. Results depend on the graph, rules, costs and budget alone; a time limit and an interruption only end the
// search earlier.
#ifndef OPTIMIZER_SEARCH_SEARCH_H
#define OPTIMIZER_SEARCH_SEARCH_H
#include "graph/graph.h"
#include "optimizer/search/cost_model.h"
#include "substitutions/rule.h"
#include <stdio.h>

struct error;

struct search_options {
    double alpha;            // >= 1
    int64_t budget;          // expanded graphs
    double seconds;          // 0: no limit
    size_t max_candidates;   // queued at once; the worst are dropped first
    FILE *progress;          // NULL: silent
};
extern const struct search_options search_standard_options;   // alpha 1.05, budget 100, no time limit

struct search_step {
    const struct rule *rule;
    double seconds_after;   // estimated cost of the whole graph after it
};
struct search_result {
    struct graph graph;                     // the best graph, in the arena of the original
    double seconds_before, seconds_after;   // estimated
    VEC(struct search_step) steps;          // from the original to the best graph
    VEC(uint64_t) applications;             // for each rule: how often in `steps`
    struct {
        uint64_t expanded, matches, queued, duplicates, cyclic, ill_typed, too_costly, dropped, peak_queue;
        double seconds;
        bool is_interrupted, is_out_of_time, is_exhausted;   // exhausted: nothing was left to expand
    } statistics;
};
// `rules` in a fixed order. Gives a result in every case; free it with search_result_free.
void search_graph(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                  const struct search_options *options, struct search_result *ret_result);
void search_result_free(struct search_result *result);
#endif
