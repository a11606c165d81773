// A result and its original differ in regions that have nothing to do with each other: each makes values of the
// original of values of the original, by other nodes, and none waits for another to let a node of the original go. Any
// of them can be taken and the others left.
#pragma once
#include "graph/graph.h"

#define NO_REGION UINT32_MAX
struct rewritten_regions {
    const struct graph *before, *after;
    size_t count;
    uint32_t *of_node;        // of every node of `after`: its region; NO_REGION: it is as before, or dead
    uint64_t *kinds;          // of each region: those that do the same on tensors of the same sizes have the same one
    tensor_id *counterpart;   // of every tensor of `after`: the one of `before` with its value, or NO_TENSOR
    struct arena *arena;
};
// Both in one arena, `after` by rewriting `before`. Everything lives in `arena`.
void rewritten_regions_find(struct rewritten_regions *ret, const struct graph *before, const struct graph *after,
                            struct arena *arena);
// The original with these regions as they are in the result. False: there is a cycle then.
bool rewritten_regions_take(const struct rewritten_regions *r, const bool *is_taken, struct graph *ret_graph);
