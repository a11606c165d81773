// The graphs that rules make of one, step by step.
#pragma once
#include "graph/graph.h"
#include "substitutions/match.h"

enum { REACH_MAX_STEPS = 16 };

struct reach {
    const struct rule *const *rules;   // to rewrite with
    size_t n_rules;
    int max_steps, max_graphs;
};
// The rules that lead from the start to a graph, in order.
struct reach_chain {
    int n;
    const struct rule *rules[REACH_MAX_STEPS];
    bool was_cut_short;   // none was found among max_graphs, and there may be more
};
// Calls `visit` for every graph that at most max_steps (REACH_MAX_STEPS or less) rewrites of `start` lead to, the start
// first, until it returns true. Gives what it returned last, and the way to that graph; ret_chain may be NULL.
bool reach_visit(const struct reach *r, const struct graph *start, bool (*visit)(void *context, const struct graph *g),
                 void *context, struct reach_chain *ret_chain);
