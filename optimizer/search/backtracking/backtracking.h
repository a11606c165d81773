// The cost-based backtracking search of the TASO paper (Section 5, Algorithm 2), for graphs of any size.
//
// The paper keeps a queue of whole graphs, expands the cheapest by every match of every rule, and queues what costs
// less than alpha times the best. On a large model most matches have nothing to do with each other, and every
// subset of them, in every order, is a graph of its own. Here only what belongs together is searched together:
//   1. descent   of all matches that make the graph cheaper, the best that do not overlap are applied at once; then
//                what is near the changes is matched anew, until nothing improves
//   2. chains    a rewrite that improves nothing by itself may lead to one that does. A chain of rewrites, each of
//                which touches what the former ones changed, is tried within a region around its beginning, best
//                first, as Algorithm 2 does with graphs; alpha bounds what it may cost on the way. A chain that ends
//                cheaper is applied to the whole graph wherever the same region occurs, and descent resumes
// Rewrites go by connected parts: if a set of them makes a graph cheaper, then so does one of its parts. Little is
// lost, and the work depends on the number of matches instead of that of their subsets.
//
// Costs of rewrites are estimated on their neighbourhoods (local_cost.h); a graph that becomes the best is priced as a
// whole and must really be cheaper. Results depend on the graph, rules, costs and options alone; a time limit and an
// interruption only end the search earlier.
#pragma once
#include "optimizer/search/cost_model.h"
#include "optimizer/search/result.h"
#include "optimizer/search/weight_limits.h"
#include <stdio.h>

struct countdown;
struct validator;

struct search_options {
    double alpha;     // >= 1
    int64_t budget;   // graphs and regions that are expanded
    // The work that may be done: so much for each graph of the budget, which is what usual originals need, and so much
    // for each node that one has more than these, so that large graphs are treated whole. Nodes that depend on weights
    // alone do not count. A unit is a number that describes what is priced, or a node of a whole graph that is.
    int64_t work_per_graph, work_per_node, usual_nodes;
    int64_t patience;        // of these in a row that gain too little (renewing_gain), or four times as many matches,
                             // or 1000 times as many units of work, after which it ends; 0: no limit
    double renewing_gain;    // as a share of the graph's cost: so much better in sum, and patience begins anew
    double seconds;          // 0: no limit
    size_t max_candidates;   // queued at once; the worst are dropped first
    size_t max_memory;       // bytes that the search may hold, 0: no limit; the worst are dropped first
    struct weight_limits weights;   // of a graph that is kept
    double least_gain;   // of a rewrite, as a share of what its neighbourhood costs: less is within the noise of costs
    bool validates;      // checks each applied rewrite at its shapes (translation_validation.h)
    struct validator *validator;   // that knows what former searches with the same rules have checked; NULL: none
    FILE *progress;                // NULL: silent; of a job whose other works are
    double later, repeats;         // (core/system/progress.h)
    struct countdown *countdown;   // NULL: none
    const double *measuring;       // seconds that went to measuring steps so far (`apart` there); NULL: none do
};
extern const struct search_options search_standard_options;   // alpha 1.05, budget 1000, patience 750, no time limit
// `rules` in a fixed order. Gives a result in every case; free it with search_result_free.
void search_graph(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                  const struct search_options *options, struct search_result *ret_result);
