// Which ways reach certain nodes from a root at little cost, where others may be passed (the directed Steiner tree
// problem).
#pragma once
#include "tuning/reuse/arborescence.h"

// Terminals are reached, and others where that is cheaper: at most as many times the least cost as there are terminals,
// by adding the nearest one after the other (Watel and Weisser 2016 compare it with others). `ret_into` is the arc into
// each node, by its number; NO_ARC for the root and for nodes that are not reached. False: some terminal cannot be.
bool steiner_tree_find(int n_nodes, int root, const bool *is_terminal, const struct arc *arcs, size_t n_arcs,
                       int *ret_into);
