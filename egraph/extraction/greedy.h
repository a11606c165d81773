// Greedy extraction, by label setting (Knuth's generalization of Dijkstra's algorithm): a node is priced when its last
// child class is settled, and the cheapest priced class is settled next, so no cycle can arise.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct extraction_problem;

// `ret_choice`: n_classes items, a valid selection and its cost, as from extraction_settle. False: some root cannot be
// built without a cycle or a node that may not be taken; what ret_choice then holds means nothing.
typedef bool greedy_fn(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);
// Over trees (Tensat, Section 5.1): the label of a class is the cost of its cheapest tree, where what is shared counts
// each time. O(N log N).
greedy_fn extraction_greedy_tree;
// Over DAGs: what is shared below a node counts once, as each settled class keeps the set of classes with costs that it
// needs.
greedy_fn extraction_greedy_dag;
