// Cost by difference: what a rewrite changes is priced on the part of the graph around it.
//
// A backend fuses neighbouring operators, so the cost of a node depends on what stands next to it, but on nothing far
// away. The neighbourhood of a rewrite is the matched nodes with some steps of readers and of what they read; the
// tensors at its border become leaves and outputs. The difference of its cost before and after is an estimate; a graph
// that the search takes as its best is priced as a whole.
//
// Models repeat themselves, and neighbourhoods do even more: each is written down as a list of words (operators,
// attributes, edges by number, types at the border), and one that was priced before is not priced again.
#ifndef OPTIMIZER_SEARCH_PRICING_H
#define OPTIMIZER_SEARCH_PRICING_H
#include "core/arena.h"
#include "optimizer/search/cost_model.h"
#include "optimizer/search/memo.h"
#include "optimizer/search/order.h"
#include "substitutions/match.h"

struct place {
    uint32_t generation;   // valid when it is the pricer's
    tensor_id tensor;
};
struct pricer {
    const struct cost_model *cost;
    struct memo memo;
    uint64_t asked, known, unpriced;
    double before;   // seconds of the neighbourhood that was asked for last, as it was
    // while one rewrite is priced
    struct arena arena;
    uint32_t generation;
    VEC(uint32_t) is_member;    // of every node: the generation in which it was one
    VEC(struct place) places;   // of every tensor: where it is in the local graph
    VEC(node_id) members;
    word_list signature;
    struct ordering ordering;
};
void pricer_init(struct pricer *p, const struct cost_model *cost);
void pricer_free(struct pricer *p);

// A rewrite of the live graph `g`, which holds the target nodes already (added behind the `n_before` nodes that `index`
// knows): old tensors are to be replaced by new ones, without a cycle.
struct rewrite {
    const struct graph *g;
    size_t n_before;
    const struct match_index *index;
    const struct match *match;
    const tensor_id *old, *new;
};
// The difference in seconds; infinity when the cost model cannot price it.
double pricer_change(struct pricer *p, const struct rewrite *r);
#endif
