// The end of planning: steps in their order, constants right before the first step that needs them, so that few of them
// have to be in memory at a time, and when memories live.
#pragma once
#include "backends/planning/planner.h"

// orders the steps and notes when memories live.
void planner_finish(struct planner *p);
