// Which of several ways to reach each node from a root is taken, at the least sum of costs: arcs of a directed graph.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define NO_ARC (-1)
struct arc {
    int from, to;
    double cost;   // not negative
};
// All nodes are reached (Chu and Liu 1965, Edmonds 1967). `ret_into` is the arc into each node, by its number; NO_ARC
// for the root. False: some node cannot be reached.
bool arborescence_find(int n_nodes, int root, const struct arc *arcs, size_t n_arcs, int *ret_into);
