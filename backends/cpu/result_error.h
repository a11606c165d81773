// How far off the results of an inexact choice are.
#pragma once
#include "backends/cpu/cpu_internal.h"

// The root mean square of the difference from what the standard way computes, as a share of that of the results, or of
// the norm of the terms that are summed where that is larger (where terms cancel, every order of sums is off by as
// much): the largest over random data with and without signs, and over data with a large mean and weights that cancel
// one another. For steps that are sums of products of their operands, in f32; the epilogue is left out. False: failed.
bool cpu_result_error(const struct step_request *r, const char *choice, double *ret_error);
