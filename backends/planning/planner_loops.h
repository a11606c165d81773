// How code becomes loops: neighbours of one shape join one loop, stages share outer axes.
#pragma once
#include "backends/planning/planner.h"

bool planner_plan_code(struct planner *p, node_id node, const struct code *code);
