// Reuse of tuned programs (ETO, Fang et al., VLDB 2022): which schedules of a step are worth a trial when the best one
// of another step is known.
//
// Of two steps with the same sketch one may reuse the other's if its loops are all at least as long, or all at most
// as long. Three features of a schedule are looked at, which on a processor are
//     B   blocks that are computed one after the other, or by different threads
//     T   lanes of vectors over all tiles of results
//     M   bytes that blocks hold near, over all blocks
// The good schedules of a have B within B* [R(b) / R(a), I(a) / I(b)], T within T* [1, I(a) / I(b)], M within M* of the
// same, where I are iterations of all loops, R those of reductions, and the star is the best schedule of b. Both ends
// belong to a range, in whatever order they come.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REUSE_LOOPS 8
struct reuse_loops {
    int n, n_space;   // those along results come first
    int64_t extents[REUSE_LOOPS];
};
// A schedule of a step.
struct reuse_schedule {
    int64_t point;
    double b, t, m;
    double block_cost, tile_cost;   // by which one of several with the same B, or T, is taken: bytes that are read
};
bool reuse_is_possible(const struct reuse_loops *a, const struct reuse_loops *b);
// Their element-wise minimum, which both may reuse, and which may reuse both: a bridge. False: it is one of them.
bool reuse_find_bridge(const struct reuse_loops *a, const struct reuse_loops *b, struct reuse_loops *ret_bridge);

// Algorithm 1, by asking and telling. In the first round, for each B and T within their ranges, the schedule that reads
// least, and has about as much near for each block as the best of b; in the second, for the best T of each B, all M.
struct reuse_search;
struct reuse_search *reuse_search_new(const struct reuse_loops *a, const struct reuse_schedule *schedules, size_t n,
                                      const struct reuse_loops *b, const struct reuse_schedule *best_of_b);
void reuse_search_free(struct reuse_search *s);
// At most so many points of schedules that were not proposed before; 0: it is over. What was proposed is told before it
// is asked again.
size_t reuse_search_propose(struct reuse_search *s, size_t most, int64_t *ret_points);
void reuse_search_tell(struct reuse_search *s, int64_t point, double value);   // INFINITY: it cannot be had
// How many trials that takes, on average over what the best of b may be: some of its schedules, drawn by the seed.
double reuse_estimate_trials(const struct reuse_loops *a, const struct reuse_schedule *schedules, size_t n,
                             const struct reuse_loops *b, const struct reuse_schedule *of_b, size_t n_of_b,
                             uint64_t seed);
