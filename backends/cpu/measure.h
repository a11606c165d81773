// The cost of a step, measured.
#pragma once
#include "backends/cpu/kernel.h"

bool cpu_measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                 double best, struct step_cost *ret_cost, struct error *error);
// Seconds that a step takes several threads, of the shortest run beside other programs and a share of one thread's.
double cpu_seconds_beside_others(double shortest, double share);
// How long a step is sampled at most, and what is left of the patience with disturbed ones when it was sampled for
// `spent`. One is sampled three times as long, where many are disturbed that is a quarter longer.
double cpu_sampling_limit(double patience, double budget, bool is_disturbed);
double cpu_patience_after(double patience, double budget, double spent);
