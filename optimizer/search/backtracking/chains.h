// Chains of rewrites (search.h, part 2): what to try next, the best first.
#pragma once
#include "optimizer/search/backtracking/queue.h"
#include "optimizer/search/backtracking/states.h"

struct chains {
    struct whole *w;
    struct state_space space;
    struct queue queue;
    double step_price;   // what a step of a chain is held to cost: short chains go first
    // while a state is expanded
    uint32_t expanding;
    uint8_t *touches;
    enum touch touch;   // of the matches that are queued
};
void chains_init(struct chains *c, struct whole *w);
void chains_free(struct chains *c);
// Queues matches of the whole graph that no chain was begun with yet, as many as the budget may allow. Gives their
// number.
size_t chains_begin(struct chains *c);
// After an adoption: what was found in regions that are still there is kept.
void chains_follow(struct chains *c, const struct movement *m);
// Gives memory back: the costlier half of what is queued goes, and the regions that nothing is queued for.
void chains_reduce(struct chains *c);
// Tries the next one. False: nothing is left. *ret_is_adopted: the whole graph became a better one, and what stands in
// ret_movement is to be followed.
bool chains_step(struct chains *c, bool *ret_is_adopted, struct movement *ret_movement);
