#pragma once
#include "graph/graph.h"

// Rebuilds types, order, uses and keys independently; the first violation is the error.
bool graph_check(const struct graph *g, struct error *error);
