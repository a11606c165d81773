// Instances of an equation at random attributes and at sizes beyond those that are tried exhaustively.
#pragma once
#include "instances/enumerate.h"

enum {
    LARGEST_TRIED = 31,             // size of an axis: as many bits as a set of sizes has
    MOST_TRIED_ENTRIES = 1 << 14,   // of an instance: what reads far apart does so in few entries, too
};
struct random_search {
    uint64_t seed;
    int largest;           // size of an axis of the variables, up to LARGEST_TRIED
    uint32_t wanted;       // instances
    uint32_t attempts;     // at most as many choices of attributes and sizes are searched for them
    uint64_t step_limit;   // of each such search
    bool is_far;           // ranks up to 6, attributes that double from small ones to 33, one long axis, six parts
    bool (*visit)(void *context, struct instance *in, enum wanted_sides wanted);   // false: no more are wanted
    void *context;
    uint32_t instances;   // that were visited
};
// The choices depend on the seed and the equation's name alone. False: a visit was.
bool random_instances_visit(struct random_search *s, const struct equation *eq);
