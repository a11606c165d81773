// By what the cost database knows a step of a plan on a device, and the costs that were found so far.
#pragma once
#include "backends/contract/backend.h"
#include "core/text/text.h"

struct step_key {
    struct text text;
    int n_parts;   // that the step has, each of which costs what the database says
};
struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step);
void step_key_free(struct step_key *key);

struct step_memory *step_memory_new(void);
void step_memory_free(struct step_memory *memory);
// What was found in the database so far is looked up there again, and what was computed of it is computed again.
void backend_forget_costs(struct backend *b);
