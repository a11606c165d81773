// Fingerprints of nodes by what they are and by their neighbourhood: equal for nodes with the same operator, attributes
// and types whose readers and makers within so many hops are equal, too, whatever graph they are in. What is computed
// of weights alone is taken for a weight, so that folding it changes no fingerprint.
#pragma once
#include "graph/graph.h"

// Fingerprints of every node; 0 for leaves, for what no output depends on, and for what is computed of weights alone.
void neighbourhoods_find(const struct graph *g, int hops, uint64_t *ret_fingerprints);
