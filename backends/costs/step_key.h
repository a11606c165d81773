// By what the cost database knows a step of a plan on a device, and the costs that were found so far.
#pragma once
#include "backends/contract/backend.h"
#include "core/text/text.h"

struct step_key {
    struct text text;
    int n_parts;   // that the step has, each of which costs what the database says
};
// The best inexact choice has a cost of its own, beside that of the best exact one.
struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step, bool is_inexact);
void step_key_free(struct step_key *key);

struct step_memory *step_memory_new(void);
void step_memory_free(struct step_memory *memory);
// What a step costs in the best of its exact choices, and in the best of its inexact ones.
struct step_prices {
    uint32_t id;                       // of the step: equal for those that do equal work
    struct step_cost exact, inexact;   // seconds 0: not asked for yet; INFINITY: there is none
};
// False: the device failed, or costs are not to be measured (b->only_recalls). Inexact choices are only looked at where
// there is a budget for errors.
bool step_prices_find(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret,
                      struct error *error);
bool step_prices_prefer_inexact(const struct backend *b, const struct step_prices *p);
// What was found in the database so far is looked up there again, and what was computed of it is computed again.
void backend_forget_costs(struct backend *b);
