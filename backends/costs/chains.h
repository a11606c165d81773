// Which neighbouring steps of a plan run as one (planning/plan_chains.h): those that take less so than each by itself.
#pragma once
#include "backends/contract/backend.h"

// Unknown costs are measured, unless the backend only recalls or the user interrupts: then such steps stay
// as they are. False: as of backend_step_cost.
bool chains_join(struct backend *b, struct plan *plan, struct error *error);
// Says that all that may be joined will be measured soon, where it is not known.
void chains_expect(struct backend *b, struct plan *plan);
// Joins the steps that have a choice of a chain among the given ones.
void chains_join_given(struct backend *b, struct plan *plan, const step_choices *given);
