// Greedy extraction over trees (Tensat, Section 5.1): the label of a class is the cost of its cheapest tree.
#pragma once
#include "egraph/extraction/greedy.h"

// The paper's: a class costs what the cheapest tree costs, where what is shared counts each time. O(N log N).
bool extraction_greedy_tree(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
