// Rank-restricted integer programs.
#pragma once
#include "egraph/extraction/incumbent.h"

// Integer programs that orders of the classes restrict: solves at most budget->restarts, improves the incumbent.
uint64_t incumbent_restart(struct incumbent *i);
