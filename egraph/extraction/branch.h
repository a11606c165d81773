// Branch and bound.
#pragma once
#include "egraph/extraction/incumbent.h"

// Branch and bound by cuts: looks at `max_branches` problems at most, improves the incumbent, raises the bound. Gives
// how many it looked at.
uint64_t incumbent_branch(struct incumbent *i, uint64_t max_branches);
