// A part of a graph that is one expression of its leaves: what derivation takes, and the source of the rules that it
// gives.
#pragma once
#include "expressions/definition.h"
#include "graph/graph.h"

enum { MOST_LEAVES = 4 };
struct part {
    struct graph graph;   // its leaves are inputs, by their numbers
    int n_leaves;
    struct type leaves[MOST_LEAVES];
    uint32_t weights;   // leaves that are known before the graph runs, one bit each
    bool is_of_onnx;    // what is found is to be made of operators that ONNX has
    bool is_shared;     // a leaf is contracted elsewhere, too: products of it as it is may be merged
    tensor_id result;
};

void part_init(struct part *p, struct arena *a);
void part_free(struct part *p);
tensor_id part_add_leaf(struct part *p, const struct type *type, bool is_weight);   // at most MOST_LEAVES
// The part as one definition of its leaves. False: it is none.
bool part_define(const struct part *p, struct arena *a, struct definition *ret_definition);
