// Greedy extraction over DAGs.
#pragma once
#include "egraph/extraction/greedy.h"

// What is shared below a node counts once: each settled class keeps the set of classes with costs that it needs.
bool extraction_greedy_dag(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
