// Cost by difference: what a rewrite changes is priced on the part of the graph around it.
//
// A backend fuses neighbouring operators, so the cost of a node depends on what stands next to it, but on nothing far
// away. The neighbourhood of a rewrite is the matched nodes with some steps of readers and of what they read; the
// tensors at its border become leaves and outputs. The difference of its cost before and after is an estimate; a graph
// that the search expands is priced as a whole.
#ifndef OPTIMIZER_SEARCH_NEIGHBOURHOOD_H
#define OPTIMIZER_SEARCH_NEIGHBOURHOOD_H
#include "optimizer/search/cost_model.h"
#include "substitutions/match.h"

// `g` holds the target nodes already (added behind the `n_before` nodes that `index` knows). Gives the difference in
// seconds of replacing old by new; false when the replacement is cyclic or cannot be priced. What is allocated in the
// graph's arena is for the caller to release.
bool neighbourhood_cost_change(const struct graph *g, size_t n_before, const struct match_index *index,
                               const struct match *m, const tensor_id *old, const tensor_id *new,
                               const struct cost_model *cost, double *ret_change);
#endif
