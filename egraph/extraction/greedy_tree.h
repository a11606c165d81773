// Greedy extraction over trees (Tensat, Section 5.1), by label setting as in greedy_dag.h: the label of a class is the
// cost of its cheapest tree, where what is shared counts each time. O(N log N).
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct extraction_problem;

// `ret_choice` and the result are as extraction_greedy_dag's.
bool extraction_greedy_tree(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
