// The seconds of groups of nodes in a session of the user's runtime, by the kernels that were seen of it. The runtime
// fuses more than groups foresee: of some groups it shows no kernel, as another one's does their work.
#pragma once
#include "optimizer/runtime/step_groups.h"

// Arrays are indexed by node. `alone` has the seconds of the group that begins at a node, measured alone; `seen` those
// of the node's own kernels, NAN where there are none. A group without kernels shares those of the neighbour whose
// kernels take the longest, relative to its own seconds alone; they divide them in proportion to their seconds alone. A
// group without any neighbour that runs takes nothing. `ret_seconds` is set for every node at which a group begins.
void session_shares(const struct step_groups *groups, const double *alone, const double *seen, double *ret_seconds);
