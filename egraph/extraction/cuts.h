// A lower bound from disjoint cuts, which sees sharing and cycles: LM-cut of classical planning without deletes
// (Helmert and Domshlak, "Landmarks, critical paths and abstractions", ICAPS 2009), where classes are facts and nodes
// actions. Every selection has a node of each cut; a cut is worth what its cheapest node has left to give.
#pragma once
#include "egraph/extraction/problem.h"

// Costs as whole numbers (in doubles, exact up to 2^53): rounded down, so that bounds are bounds. `scale` is a power of
// two: bound / scale bounds the cost of every selection, with no rounding on the way.
struct whole_costs {
    double *cost;   // [n_nodes]; INFINITY: may not be taken
    double scale;
    uint32_t n_nodes;
};
void whole_costs_init(struct whole_costs *ret_costs, const struct extraction_problem *p);
void whole_costs_free(struct whole_costs *costs);

// Sum of the worth of the cuts, at most `enough` (then the search for more ends); INFINITY when the roots cannot be
// built. `rest` (n_nodes items) begins as the costs and ends as what is left of them: any selection that has node n
// costs at least the bound and rest[n].
double cuts_bound(const struct extraction_problem *p, double *rest, double enough);
