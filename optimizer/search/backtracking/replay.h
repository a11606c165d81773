// Applying a chain that was found good: where it was found, and wherever else it goes.
#pragma once
#include "optimizer/search/backtracking/states.h"

// Applies the chain that ends in a state at every site of its region, and replays it from every match of the whole
// graph that looks like the one that it began with: the rules of its steps, in their order, each with the same gain.
// False: the whole graph became no better.
bool chain_apply_everywhere(struct state_space *space, uint32_t state, struct movement *ret_movement);
