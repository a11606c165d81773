// Tuning in taso-opt's job, behind the search and the contest of what that found: the kernels of the untuned result,
// which is the faster one of that and the original, so that what kernels cost when tuned decides which graph is better
// in another search; then all passes together, of the original, of what was found untuned, and of what was found since.
// It is adopted where the whole model is faster than the untuned one, timed by turns, by more than the noise; else the
// untuned one is what the job comes to.
#pragma once
#include "optimizer/job/optimization.h"

bool optimizing_check_tuning(struct optimizing *o);   // false: nothing of it would have an effect
// The result of the contest so far, with that finalist; its kernels are tuned. The report of its times goes with it.
// NULL: models are timed, and it cannot be (which is told), or it was interrupted.
struct untuned;
struct untuned *optimizing_tune_untuned(struct optimizing *o, size_t finalist);
void optimizing_forget_untuned(struct untuned *untuned);
// Finalists are tuned once in a job, and the choices of the cheapest are those that take the least in the model. Where
// nothing is timed only trials stay known.
void optimizing_tune_passes(struct optimizing *o, const struct untuned *untuned);
// Is what the contest has come to since faster, with that finalist, or is nothing timed? Else choices, layouts and
// times are as noted.
bool optimizing_adopt_tuned(struct optimizing *o, struct untuned *untuned, size_t finalist);
void optimizing_end_tuning(struct optimizing *o);
