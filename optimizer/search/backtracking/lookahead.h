// The gain that a state may still have: a tensor that some of its readers were led away from is one step nearer to
// being of no use, and when the last one leaves, what its operator costs is gained.
#pragma once
#include "optimizer/search/backtracking/states.h"

double states_promise_of(struct state_space *space, uint32_t state);
