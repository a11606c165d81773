// The fastest of several ways to run a step, found by short trials, on every device.
#pragma once
#include "backends/contract/backend.h"

#define TRIAL_SAMPLES 3

// Times one way to run a step with so many samples, or fewer once it is seen to be hopeless beside `best` seconds.
// False: it cannot be had.
typedef bool time_choice_fn(void *context, const char *choice, size_t most_samples, double best,
                            struct step_cost *ret_cost);
// When the others need not be tried: what is found takes no more than `enough` seconds, or `patience` in a row, which
// stand in an order, took no less than one before. 0: all are tried.
struct choice_limits {
    double enough;
    int patience;
};
// The only one without any trial, of several the first that takes least, with what its trial said; "" where none can be
// had. `best` is what the step takes in ways that are not among them, or INFINITY.
const char *choices_find_best(const choice_list *among, double best, const struct choice_limits *limits,
                              time_choice_fn *time, void *context, struct step_cost *ret_trial);
