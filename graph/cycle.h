// Would a replacement make a cycle? Known without building it: from each new tensor upward, meeting an old tensor means
// to depend on what replaces that.
#pragma once
#include "graph/graph.h"

// Would that replacement (of at most 64 tensors) be refused? Looks only at what stands between old and new.
bool graph_replacement_has_cycle(const struct graph *g, size_t n, const tensor_id *old, const tensor_id *new);
