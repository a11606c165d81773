// Choices of e-nodes worth being priced as whole graphs: what extraction finds under each way of pricing e-nodes. Where
// costs have to be measured, what is no cheaper than the first graph, so priced, is left out.
#pragma once
#include "egraph/extraction/best.h"
#include "egraph/extraction/problem.h"
#include "optimizer/search/saturation/node_costs.h"

struct candidate {
    enode_id *choice;         // of every class that the outputs need, by its canonical id
    const char *extraction;   // which one found it
    enum node_pricing pricing;
    double cost;          // the sum of prices of its e-nodes
    uint32_t n_unknown;   // different e-nodes that the first graph has not, and whose prices are estimates
};
struct candidates {
    struct arena arena;
    VEC(struct candidate) items;
    double bound, best;   // priced alone: no choice costs less; the cheapest that was found
    double seconds_pricing, seconds_extracting;
};
// `budget` of the best extraction, which large problems get a share of; NULL: only the greedy ones.
void candidates_find(struct candidates *c, const struct egraph *e, const struct cost_model *cost,
                     const struct extraction_budget *budget, const enode_id *outputs, size_t n_outputs);
void candidates_free(struct candidates *c);
// The cheapest as priced behind what makes their inputs, of those with no more unknown e-nodes. NULL: there is none.
const struct candidate *candidates_find_cheapest(const struct candidates *c, uint32_t most_unknown);
// The extraction problem alone, whose e-nodes are priced alone.
void candidates_pose(const struct egraph *e, const struct cost_model *cost, const enode_id *outputs, size_t n_outputs,
                     struct extraction_problem *ret_problem);
