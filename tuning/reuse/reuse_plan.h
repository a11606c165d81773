// Which step reuses the tuned schedule of which other, so that all take the fewest trials: the cheapest tree of a graph
// whose root is the search from nothing (ETO's optimization choice graph), and which may pass bridges.
#pragma once
#include "tuning/reuse/reuse.h"

#define TUNED_FROM_NOTHING (-1)
#define NOT_TUNED (-2)   // a bridge that spares nothing
struct reuse_node {
    const char *family;   // those of one may reuse each other
    struct reuse_loops loops;
    const struct reuse_schedule *schedules;   // all that suit
    size_t n_schedules;
    double from_nothing;   // trials that a search without reuse still takes; 0: it is tuned
    bool is_bridge;        // nobody asked for it
};
struct reuse_bridge {
    const char *family;
    struct reuse_loops loops;
};
void reuse_plan_find(const struct reuse_node *nodes, size_t n, uint64_t seed, int *ret_parents);
// Bridges of one hop that may spare trials: between nodes that a plan searches from nothing. Gives how many, at most
// `most`.
size_t reuse_plan_list_bridges(const struct reuse_node *nodes, size_t n, const int *parents, size_t most,
                               struct reuse_bridge *ret_bridges);
