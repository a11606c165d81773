// The same model for many samples: graphs of one sample, whose inputs have a first axis of size 1, made over.
#pragma once
#include "graph/graph.h"

#define BATCH_REASON_SIZE 200
// `g` with n samples in place of one: weights are the same, other tensors have n entries on axis 0 where they depend on
// an input. `ret_graph` is made by this call (with the arena of `g`). False: some operator treats the first axis as
// more than a number of samples; the reason says which.
bool graph_with_batch(struct graph *ret_graph, const struct graph *g, int64_t n, char *ret_reason);
