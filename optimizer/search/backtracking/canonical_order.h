// An order of some nodes of a graph that follows from what they are and how they hang together, not from their numbers:
// equal parts of a graph are listed equally wherever they stand. (Ties are left between nodes that a few steps of their
// surroundings do not tell apart; then the lists may differ, and an equal part goes unrecognized.)
#pragma once
#include "core/memory/vec.h"
#include "substitutions/match.h"

struct node_place {
    uint32_t generation, place;
};
struct ordering {
    uint32_t generation;             // of the places that are valid
    VEC(struct node_place) places;   // of every node up to the last one that was listed
    VEC(node_id) nodes;
    VEC(uint64_t) colors, next_colors;
    VEC(uint32_t) missing;   // how many of its inputs are not listed yet
    VEC(uint32_t) ready;     // a heap, the least first: not listed, and nothing is missing
};
void ordering_free(struct ordering *o);
// Puts the nodes (different, no leaves) into that order, which is topological. The match (may be NULL) tells its nodes
// apart from others.
void order_nodes(struct ordering *o, const struct match_index *index, const struct match *m, node_id *nodes,
                 size_t count);
// Should the second input of a commutative node be met before its first? Decides by what they are.
bool order_is_swapped(const struct match_index *index, tensor_id first, tensor_id second);
