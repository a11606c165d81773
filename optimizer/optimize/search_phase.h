// The search of taso-opt: how often it is done, with what, and which results are tried.
#pragma once
#include "optimizer/job/optimization.h"

// The search by the strategy of the options, and a contest of what it came to, into o->found; what the report tells of
// layouts and times. False: the device failed.
bool optimizing_search(struct optimizing *o);
