// Descent: what makes the graph cheaper is applied at once, as far as it shares no node.
#pragma once
#include "optimizer/search/backtracking/incumbent.h"

// Applies the best improving proposals that do not overlap, all at once. False: none improves any more.
bool whole_descend(struct whole *w, struct movement *ret_movement);
