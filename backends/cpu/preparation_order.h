// In which order the steps of a plan are prepared.
#pragma once
#include "backends/planning/plan.h"

// The numbers of all steps of the plan, each behind those that make what it reads of constants.
const uint32_t *preparation_order(const struct plan *plan, struct arena *arena);
