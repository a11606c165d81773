// Costs of whole graphs: planned, with layouts by the backend's policy, and their steps added up or listed.
#pragma once
#include "backends/contract/backend.h"

// False: the graph cannot be planned (opaque nodes), or a step failed on the device. Not for several threads at once.
bool backend_estimate(struct backend *b, const struct graph *g, struct estimate *ret_estimate, struct error *error);
// Says that the graph will be asked for soon, where a step that is not known is measured: what several graphs need is
// compiled together.
void backend_expect(struct backend *b, const struct graph *g);
// The estimate with given layouts, whatever the policy (plan_request).
bool backend_estimate_with(struct backend *b, const struct graph *g, const uint8_t *layouts,
                           struct estimate *ret_estimate, struct error *error);
// Calls `visit` for every step of the graph's plan that runs each time, in order.
typedef void visit_step_fn(void *context, const struct plan *plan, const struct step *step,
                           const struct step_cost *cost);
bool backend_visit_steps(struct backend *b, const struct graph *g, visit_step_fn *visit, void *context,
                         struct error *error);
// Equal for graphs and policies that come to the same steps with the same layouts. False: the graph cannot be planned.
bool backend_hash_plan(struct backend *b, const struct graph *g, uint64_t *ret_hash, struct error *error);
// A line for each step with its cost, most expensive first, or for each whose cost is guessed; for people.
bool backend_explain(struct backend *b, const struct graph *g, bool only_guesses, struct text *out,
                     struct error *error);
