// What steps of plans take, learned from those whose costs are known, to guess the others: a ridge regression of the
// logarithm of seconds on what they compute, read and write. For ordering candidates that differ in few steps.
#pragma once
#include "backends/contract/backend.h"

struct step_model;
struct step_model *step_model_new(void);
void step_model_free(struct step_model *m);
// Known, or guessed; nothing is measured. What is known is learned.
double step_model_seconds(struct step_model *m, struct backend *b, const struct plan *plan, const struct step *step);
