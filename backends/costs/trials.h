// The seconds of a step by one choice after the other, for who searches schedules. Each trial is kept in the cost
// database, by the step's key and ` by CHOICE`, so that nothing is tried twice, and databases of several machines
// merge.
#pragma once
#include "backends/contract/backend.h"

// A trial of before. One that other programs disturbed in an earlier run is as if it was not there.
bool backend_recall_trial(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                          struct step_cost *ret_cost);
// Measures it, and keeps nothing; hopeless ones beside `best` seconds need not be known well. With its error where the
// precision is not exact. False: it cannot be had.
bool backend_time_choice(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                         enum precision precision, double best, struct step_cost *ret_cost);
// The same of a step of another model, in seconds of one of its parts.
bool backend_recall_former_trial(const struct backend *b, const char *key, const char *choice,
                                 struct step_cost *ret_cost);
void backend_keep_trial(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                        const struct step_cost *cost);
// The step runs by the choice of that cost from now on. What was derived of costs is to be forgotten (step_cost.h).
void backend_adopt_choice(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                          const struct step_cost *cost);
