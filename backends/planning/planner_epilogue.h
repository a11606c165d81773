// Epilogues: element-wise operators (a bias, an activation) that run inside of the kernel whose result they read.
#pragma once
#include "backends/planning/planner.h"

// makes the node, perhaps with some that follow it, the epilogue of what it reads.
bool planner_join_epilogue(struct planner *p, node_id node);
