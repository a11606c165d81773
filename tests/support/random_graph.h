// Random typed graphs: small matrices, images and kernels under random operators with plausible attributes, and the
// source graphs of rules over random tensors, so that rules have something to match.
#pragma once
#include <stddef.h>

struct graph;
struct random;
struct rule_set;

// Fills an empty graph. Outputs are all tensors that nothing reads, a few others, at times an input, at times one
// twice.
void random_graph_fill(struct graph *g, const struct rule_set *rules, struct random *random, size_t n_steps);
