// The states of regions: what each can be brought into by chains of rewrites. Equal regions are of one kind, with a
// site for each place in the whole graph, and their states are shared.
#pragma once
#include "optimizer/search/backtracking/incumbent.h"

#define NO_STATE UINT32_MAX

struct state {
    struct graph graph;
    tensor_id *stands_for;   // of every tensor, see region.h
    uint32_t kind, parent, depth;
    struct match match;   // by which it came from its parent; no rule: the region as it was found
    double least;         // gain of the chain that counts: the most that any of its steps asks for
    double promise;       // seconds that may still be gained, see chains.c
    double credit;        // the promise, if it is more than its parent has: by so much sooner it is gone on with
    double step_change;   // by which, as its neighbourhood was priced
    double change;        // in seconds, against the region as it was found, where it was found first
    bool is_priced;       // is it known?
    bool is_expanded;     // its matches are or were queued
};
struct region_kind {
    struct arena arena;   // of all its states
    uint32_t root;        // the state that it is found in
    uint32_t winner;      // the state that was applied to the whole graph, or NO_STATE
    bool is_gone;         // no site is left, and no state
    double error;         // the least by which a gain that was estimated in it was too large; 0: none was
    VEC(struct site) sites;
    VEC(uint32_t) states;
    VEC(double) node_seconds;   // of each node of the region alone; NaN where nobody asked
};
struct state_space {
    struct whole *w;
    VEC(struct region_kind *) kinds;
    VEC(struct state) states;
    struct table by_region, by_graph;
    uint32_t n_sites;   // ever found; each has its number
};
void states_free(struct state_space *space);
void states_forget_kind(struct state_space *space, uint32_t kind);   // with its sites and states
// The kind of the region around a match of the whole graph, which has this place among its sites now, by that number.
// `ret_match` is the match in the region.
uint32_t states_find_kind(struct state_space *space, const struct match *m, struct match *ret_match, uint32_t *ret_site,
                          bool *ret_is_new_site);
// The state that a match of another one leads to. NO_STATE: it cannot be applied.
uint32_t states_make_state(struct state_space *space, uint32_t parent, const struct match *m, double step_change,
                           bool *ret_is_new);
double states_price_state(struct state_space *space, uint32_t state);   // its `change`, made known
void states_set_change(struct state_space *space, uint32_t state, double change);
struct rewritten state_rewritten(const struct state_space *space, const struct state *s);
// How a node is touched by the chain: closely, when the chain made it or it reads what the chain made; widely, when it
// only reads or makes a tensor that gained or lost a reader.
enum touch { TOUCH_NONE, TOUCH_WIDE, TOUCH_CLOSE };
uint8_t *state_mark_touched(const struct state_space *space, const struct state *s);   // of every node, and one more
enum touch match_touch(const struct match *m, const uint8_t *touches);                 // the closest of its nodes
// After an adoption: sites move along or are lost, and with its last site a kind.
void states_follow(struct state_space *space, const struct movement *m);
bool *states_mark_sites(
    const struct state_space *space);   // one flag for each number (and one more, to be freed): is it left?
