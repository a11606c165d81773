// Which choice each step of a plan runs by: the fastest that is known. An inexact one loses no more than the backend
// allows (error_budget), and none is taken that was taken back: what all of a model lose together shows only where the
// model runs, so that is judged there (optimizer/run/prepare_within.h).
#pragma once
#include "backends/contract/backend.h"

// Inexact choices of a plan.
struct inexact_steps {
    uint32_t n_taken, n_taken_back;
    double gain;   // in seconds
};

// Choices are made by known costs, without measuring: steps of which nothing is known run in their standard way.
void backend_choose(struct backend *b, struct plan *plan);
// The same, where what is not known is measured; the sum of costs is added to the estimate. False: as of
// backend_step_cost.
bool backend_choose_priced(struct backend *b, struct plan *plan, struct estimate *estimate, struct error *error);
// Says that steps of the plan will be measured soon, where they are not known.
void backend_expect_steps(struct backend *b, const struct plan *plan);
// Chooses what is given, but no inexact choices where no error is allowed at all; the other steps run in their standard
// way. NULL: backend_choose.
void backend_choose_given(struct backend *b, struct plan *plan, const step_choices *given);
// Adds the choices that are not the standard one, in the order of steps, each step's text once; texts are in the arena.
void plan_list_choices(const struct plan *plan, struct arena *arena, step_choices *list);
struct inexact_steps plan_inexact_steps(struct backend *b, const struct plan *plan);
// The same of a graph's plan with layouts by the policy, as it would be prepared. False: it cannot be planned.
bool backend_inexact_steps(struct backend *b, const struct graph *g, struct inexact_steps *ret, struct error *error);
// The choices of a graph's plan with these layouts, as it would be prepared, and what they gain. False: it cannot be
// planned.
bool backend_list_choices(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                          step_choices *list, struct error *error);
