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
#include "graph/graph.h"
#include "optimizer/search/cost_model.h"
#include "optimizer/search/weight_limits.h"
#include "substitutions/rule.h"
#include <stdio.h>

struct countdown;
struct validator;

struct search_options {
    double alpha;     // >= 1
    int64_t budget;   // graphs and regions that are expanded
    // The work that may be done: so much for each graph of the budget, which is what usual originals need, and so much
    // for each node that one has more than these, so that large graphs are treated whole. Nodes that depend on weights
    // alone do not count. In words of descriptions to price, and nodes of whole graphs that are priced.
    int64_t work_per_graph, work_per_node, usual_nodes;
    int64_t patience;        // of these in a row that gain too little (renewing_gain), or four times as many matches,
                             // or 1000 times as many words of descriptions to price, after which it ends; 0: no limit
    double renewing_gain;    // as a share of the graph's cost: so much better in sum, and patience begins anew
    double seconds;          // 0: no limit
    size_t max_candidates;   // queued at once; the worst are dropped first
    size_t max_memory;       // bytes that the search may hold, 0: no limit; the worst are dropped first
    struct weight_limits weights;   // of a graph that is kept
    double least_gain;   // of a rewrite, as a share of what its neighbourhood costs: less is within the noise of costs
    bool validates;      // checks each applied rewrite at its shapes (translation_validation.h)
    struct validator *validator;   // that knows what former searches with the same rules have checked; NULL: none
    size_t n_disabled;
    const char *const *disabled;   // names of rules not to be used
    size_t max_rule_operators;     // rules with more operators on either side are not used; 0: no limit
    FILE *progress;                // NULL: silent; of a job whose other works are
    double later, repeats;         // (core/system/progress.h)
    struct countdown *countdown;   // NULL: none
    const double *measuring;       // seconds that went to measuring steps so far (`apart` there); NULL: none do
};
extern const struct search_options search_standard_options;   // alpha 1.05, budget 1000, patience 750, no time limit

// Why a search ended, and how reports call it.
#define SEARCH_ENDS(END)                                                                                               \
    END(INTERRUPTED, "interrupted", "interrupted")                                                                     \
    END(OUT_OF_TIME, "out_of_time", "out of time")                                                                     \
    END(EXHAUSTED, "exhausted", "nothing left to try")                                                                 \
    END(OUT_OF_WORK, "out_of_work", "budget of work used")                                                             \
    END(OUT_OF_PATIENCE, "out_of_patience", "nothing better for long")                                                 \
    END(OUT_OF_BUDGET, "out_of_budget", "budget of graphs used")
enum search_end {
#define END_CONSTANT(constant, name, words) SEARCH_##constant,
    SEARCH_ENDS(END_CONSTANT)
#undef END_CONSTANT
};

struct search_step {
    const struct rule *rule;
    double seconds_after;   // estimated cost of the whole graph after it
};
// A graph on the way, which so many steps led to.
struct search_milestone {
    size_t n_steps;
    struct graph graph;
};
struct search_point {   // of the course of a search
    uint64_t expanded;
    double elapsed;   // seconds since it began
    double seconds;   // estimated cost of the best graph from here on
};
// Counts that can be added up, with what reports call them, for programs and for people.
#define SEARCH_COUNTS(COUNT)                                                                                           \
    COUNT(expanded, "expanded", "graphs expanded")                                                                     \
    COUNT(matches, "matches", "places where a rule matches")                                                           \
    COUNT(queued, "queued", "new graphs queued")                                                                       \
    COUNT(duplicates, "duplicates", "graphs that were there already")                                                  \
    COUNT(cyclic, "cyclic", "rewrites that make a cycle")                                                              \
    COUNT(ill_typed, "ill_typed", "rewrites that no types fit")                                                        \
    COUNT(too_costly, "too_costly", "graphs that cost too much")                                                       \
    COUNT(dropped, "dropped", "graphs dropped for want of room")                                                       \
    COUNT(regions, "regions", "parts of the model, searched apart")                                                    \
    COUNT(repeated, "regions_repeated", "  that are equal to another")                                                 \
    COUNT(priced, "costs_asked", "costs asked for")                                                                    \
    COUNT(remembered, "costs_known", "  that were known")                                                              \
    COUNT(work, "work", "work done, in words of graphs to price")                                                      \
    COUNT(validated, "validated", "applications of rules validated")                                                   \
    COUNT(not_validated, "not_validated", "  that would have taken too long")

struct search_statistics {
#define COUNT_FIELD(field, name, label) uint64_t field;
    SEARCH_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
    uint64_t adopted;   // times that the best graph became a better one
    uint64_t peak_queue;
    double seconds;
};
struct egraph_figures {
    uint64_t rounds, nodes, classes;
    double extracted, bound;   // the cheapest sum of prices of e-nodes, and what none is below
    const char *end;           // why exploration ended
};
// What saturation did, where it was asked for: in all its e-graphs.
struct saturation_figures {
    bool is_done, is_better;   // better: the result is what it extracted
    uint64_t egraphs, matches, unions;
    uint64_t cycles_prevented, cycles_resolved;   // applications left out, and e-nodes filtered
    uint64_t graphs_priced;                       // whole ones, of those that were extracted
    double seconds_exploring, seconds_pricing, seconds_extracting;
    struct egraph_figures last;   // of the last one on the way to the result
};
struct search_result {
    struct graph graph;                        // the best graph, in the arena of the original
    double seconds_before, seconds_after;      // estimated
    VEC(struct search_step) steps;             // from the original to the best graph
    VEC(struct search_milestone) milestones;   // each that became the best, with the last
    VEC(struct search_point) course;           // the beginning, every better graph, the end
    VEC(uint64_t) applications;                // for each rule: how often in `steps`
    VEC(uint64_t) unions;                      // for each rule: of classes, by saturation; empty without it
    VEC(const struct rule *) refuted;          // found wrong by validation, and not used any more
    VEC(enum search_end) ends;                 // of it, after those of the searches that came before
    struct search_statistics statistics;
    struct saturation_figures saturation;
};
// `rules` in a fixed order. Gives a result in every case; free it with search_result_free.
void search_graph(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                  const struct search_options *options, struct search_result *ret_result);
