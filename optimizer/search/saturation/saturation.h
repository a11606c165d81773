// Equality saturation as a search (Tensat, MLSys 2021): an e-graph of the original, explored with rules, out of which
// the cheapest graphs are taken. The best one is what the next e-graph begins with, and so on. Where another search was
// done before, what it has found is where this one begins, so that the result is never worse.
//
// E-nodes are priced one by one (node_costs.h), which says nothing of what a backend fuses across them; so several
// graphs are extracted, under several prices, and each is priced as a whole. The applications of rules that the best
// one rests on are validated; a rule that one of them refutes is left out, and the e-graph is made anew.
#pragma once
#include "egraph/explore.h"
#include "egraph/extraction/best.h"
#include "optimizer/search/cost_model.h"
#include "optimizer/search/result.h"
#include "optimizer/search/weight_limits.h"
#include <stdio.h>

struct saturation_options {
    struct exploration_options exploration;   // without its choice of rules
    struct extraction_budget extraction;
    struct validator *validator;    // NULL: applications are not validated
    const bool *is_chosen;          // by the numbers of rules; NULL: all are
    struct weight_limits weights;   // of what is extracted
    double least_gain;              // of the whole graph, as a share of its cost
    size_t most_egraphs;            // one after the other, from one graph on
    // Different e-nodes without a known cost, of all graphs that are measured; UINT32_MAX: any number.
    uint32_t most_unknown;
    FILE *progress;   // NULL: silent
};
extern const struct saturation_options saturation_standard_options;

// `found` is the result of a search with the same rules and costs, which may have tried nothing. It becomes better, or
// stays; its figures of saturation are filled in.
void saturation_improve(struct search_result *found, const struct rule_set *rules, const struct cost_model *cost,
                        const struct saturation_options *options);
