// Greedy extraction over DAGs: label setting (Knuth's generalization of Dijkstra's algorithm). A node is priced when
// its last child class is settled, and the cheapest priced class is settled next, so no cycle can arise. What is shared
// below a node counts once: each settled class keeps the set of classes with costs that it needs.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct extraction_problem;

// `ret_choice`: n_classes items, a valid selection and its cost, as from extraction_settle. False: some root cannot be
// built without a cycle or a node that may not be taken; what ret_choice then holds means nothing.
bool extraction_greedy_dag(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
