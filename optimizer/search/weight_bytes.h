// The bytes of weights that a graph makes a model hold: a rewrite that computes more from weights before the graph runs
// may make a model faster and several times larger.
#pragma once
#include <stddef.h>

struct graph;

// Bytes of all that depends on weights alone and is read by what does not, or is an output: each tensor once, and of
// those that repeat along an axis (repeated_weight.h) one part.
size_t graph_weight_bytes(const struct graph *g);
