// What one step of a plan costs: from memory, from the database, measured now, or guessed.
#pragma once
#include "backends/costs/step_key.h"

// The best inexact choice has a cost of its own, beside that of the best exact one.
struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step, bool is_inexact);
void step_key_free(struct step_key *key);
struct step_memory *step_memory_new(void);
void step_memory_free(struct step_memory *memory);
// False: the device failed, or costs are not to be measured (b->only_recalls). Inexact choices are only looked at where
// there is a budget for errors.
bool step_prices_find(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret,
                      struct error *error);
bool step_prices_prefer_inexact(const struct backend *b, const struct step_prices *p);
// What was found in the database so far is looked up there again, and what was computed of it is computed again.
void backend_forget_costs(struct backend *b);
