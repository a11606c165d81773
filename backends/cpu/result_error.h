// How far off the results of an inexact choice are.
#pragma once
#include "backends/cpu/kernel.h"

// The error of a choice beyond that of the standard way, both beside sums in double precision at sampled places of the
// result: the root mean square of the difference, as a share of that of the results, or of the norm of the terms that
// are summed where that is larger (where terms cancel, every order of sums is off by as much). The largest excess over
// random data with and without signs, and over data with a large mean and weights that cancel one another; where there
// is none it is the least that an inexact choice has. For products and convolutions in steps of one, in f32, with
// known weights; the epilogue is left out. False: failed, or it is no such step.
struct result_error {
    double excess;
    double of_choice, of_standard;   // the largest of each
};
bool cpu_result_error(const struct step_request *r, const char *choice, struct result_error *ret_error);
