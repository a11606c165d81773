// The choices by which steps run before anything is tuned, so that they can have them back.
#pragma once
#include "backends/contract/backend.h"

struct former_choices;
struct former_choices *former_choices_note(const struct backend *b);   // of all steps that the cost database knows
void former_choices_free(struct former_choices *f);
// The best choice of a step in those days, by the step's key. False: nothing was known.
bool former_choices_find(const struct former_choices *f, const char *key, struct step_cost *ret_cost);
// Steps that have another choice by now, or were given another cost, run by the former one again, in all models.
// Choices adopted for steps that were not known then are forgotten. Trials stay known, and so does what was best of
// each pass.
void former_choices_restore(const struct former_choices *f, struct backend *b);
