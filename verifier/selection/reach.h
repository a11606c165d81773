// What rules make of a graph, step by step.
#ifndef VERIFIER_SELECTION_REACH_H
#define VERIFIER_SELECTION_REACH_H
#include "graph/graph.h"
#include "substitutions/match.h"

struct reach {
    const struct rule *const *rules;   // to rewrite with
    size_t n_rules;
    int max_steps, max_graphs;
};
// Calls `visit` for every graph that at most max_steps rewrites of `start` lead to, the start first, until it returns
// true. Gives what it returned last.
bool reach_visit(const struct reach *r, const struct graph *start, bool (*visit)(void *context, const struct graph *g),
                 void *context);
#endif
