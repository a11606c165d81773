// Searching and judging what was found: compared with the original, and timed beside it.
#pragma once
#include "optimizer/job/optimization.h"

// Searches, and judges o->found, into o->report. False: the device failed.
bool optimizing_search_and_judge(struct optimizing *o);
// A result that is not compared with the original, by the report. NULL: it is.
const char *optimizing_reason_not_to_check(const struct optimizing *o);
