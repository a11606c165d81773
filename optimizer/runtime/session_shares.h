// What groups of nodes take in a session of the user's runtime, by the kernels that were seen of it. The runtime fuses
// more than groups foresee: of some groups it shows no kernel, as another one's does their work.
#pragma once
#include "optimizer/runtime/step_groups.h"

// By nodes: `alone` has the seconds of the group that begins there, measured alone; `seen` those of the kernels that
// are the node's, NAN where there are none. A group without kernels is done by the kernels of a neighbour: of those
// that take the longest beside what their groups take alone; they share these seconds in proportion to what they take
// alone. Groups without any neighbour that runs take nothing. `ret_seconds` is of every node that begins a group.
void session_shares(const struct step_groups *groups, const double *alone, const double *seen, double *ret_seconds);
