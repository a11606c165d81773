// Equality of two models by structure and rules: both are in one e-graph, rules that were proved add equal terms,
// constants are computed, and congruence joins what follows, until the outputs are one or a budget is spent.
//
// Saturation goes from the inputs on: only what the models do not share is rewritten, and only where it stands on what
// they share. Once two tensors are found to be equal the search begins anew behind them, in an e-graph without the
// terms that led there.
#pragma once
#include "compare/common_graph.h"
#include "substitutions/rule.h"
#include <stdio.h>

struct saturation_budget {
    size_t most_nodes;      // that rules may add before two tensors are found to be equal
    uint32_t most_rounds;   // in all
    FILE *progress;         // NULL: silent
};
struct saturation {
    uint32_t rounds;
    size_t unions, constants, rounded;   // made by rules; computed; pairs of constants that are equal but for rounding
    double largest_rounding;             // of these, as a share of the largest entry
    bool is_exhausted;                   // the budget was spent; else nothing more follows, or all is equal
};
// Notes in c->class_of what is found to be equal. The result depends on nothing but the arguments.
void common_graph_saturate(struct common_graph *c, const struct rule_set *rules, const struct saturation_budget *budget,
                           struct saturation *ret_saturation);
