// Which step reuses the tuned schedule of which other, so that all take the fewest trials: the cheapest arborescence of
// a graph whose root is the search from nothing (ETO's optimization choice graph).
#pragma once
#include "tuning/reuse/reuse.h"

#define TUNED_FROM_NOTHING (-1)
struct reuse_node {
    const char *family;   // those of one may reuse each other
    struct reuse_loops loops;
    const struct reuse_schedule *schedules;   // all that suit
    size_t n_schedules;
    double from_nothing;   // trials that a search without reuse still takes; 0: it is tuned
};
void reuse_plan_find(const struct reuse_node *nodes, size_t n, uint64_t seed, int *ret_parents);
