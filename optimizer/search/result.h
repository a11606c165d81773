// The result of a search, and of two searches as one.
#pragma once
#include "core/memory/vec.h"
#include "graph/graph.h"
#include "substitutions/rule.h"

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
struct search_point {   // of the trajectory of a search
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
    COUNT(work, "work", "units of work, numbers that describe what was priced")                                        \
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
// The figures of saturation, where it was asked for: in all its e-graphs.
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
    VEC(struct search_point) trajectory;       // the beginning, every better graph, the end
    VEC(uint64_t) unions;                      // for each rule: of classes, by saturation; empty without it
    VEC(const struct rule *) refuted;          // found wrong by validation, and not used any more
    VEC(enum search_end) ends;                 // of it, after those of the searches that came before
    struct search_statistics statistics;
    struct saturation_figures saturation;
};

void search_result_free(struct search_result *result);
// The result's graph as it is now is one.
void search_result_add_milestone(struct search_result *result, const struct graph *g);
// Two searches one after the other: `last` began with the graph that `first` gave, and gets its rewrites and its
// trajectory in front of its own, told as if they had been priced like those of `last`: the original costs
// `seconds_before`.
void search_result_put_in_front(struct search_result *last, const struct search_result *first, double seconds_before);
// Tells its steps and its trajectory as if they had led from and to these costs.
void search_result_reprice(struct search_result *result, double before, double after);
// Adds the counts of a search that came before, how it ended, and the rules that it found wrong.
void search_result_add_former(struct search_result *result, const struct search_result *former);
void search_result_add_refuted(struct search_result *result, const struct search_result *other);
