// Which choice each step of a plan runs by: the fastest exact one, or a faster inexact one as long as the errors of
// those add up to no more than the budget of the backend. Steps that do equal work choose alike. Those whose inexact
// choice gains most are served first; what does not fit is passed over.
#pragma once
#include "backends/contract/backend.h"

struct error_budget {
    uint32_t n_inexact, n_refused;   // steps
    double error, gain;              // sums over those that are inexact; gain in seconds
};

// By what is known of costs, without measuring: steps of which nothing is known run in their standard way.
void backend_choose(struct backend *b, struct plan *plan);
// The same, where what is not known is measured; the sum of costs is added to the estimate. False: as of
// backend_step_cost.
bool backend_choose_priced(struct backend *b, struct plan *plan, struct estimate *estimate, struct error *error);
// Chooses what is given, but no inexact choices where there is no budget at all; the other steps run in their standard
// way. NULL: backend_choose.
void backend_choose_given(struct backend *b, struct plan *plan, const step_choices *given);
// Adds the choices that are not the standard one, in the order of steps, each step's text once; texts are in the arena.
void plan_list_choices(const struct plan *plan, struct arena *arena, step_choices *list);
struct error_budget plan_error_budget(struct backend *b, const struct plan *plan);
// The same of a graph's plan with layouts by the policy, as it would be prepared. False: it cannot be planned.
bool backend_error_budget(struct backend *b, const struct graph *g, struct error_budget *ret, struct error *error);
