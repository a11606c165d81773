// Tuning in taso-opt's job: the kernels of the original before the search, so that what kernels cost when tuned decides
// which graph is better; behind it all passes together, of the original and the finalists. What is found is adopted
// where the whole model is faster by it, timed by turns with what was before, by more than the noise; else that comes
// back.
#pragma once
#include "optimizer/optimization.h"

bool optimizing_check_tuning(struct optimizing *o);   // false: nothing of it would have an effect
void optimizing_tune_original(struct optimizing *o);
void optimizing_tune_passes(struct optimizing *o);   // of o->finalists; once in a job
void optimizing_end_tuning(struct optimizing *o);
