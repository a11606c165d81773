// Does a result of the search compute what the original computes? Both are run, with the layouts that suit each.
#pragma once
#include "optimizer/job/optimization.h"

// Takes back those inexact kernels that move the original's outputs too far, with layouts by o->results.policies.
void optimizing_judge_kernels(struct optimizing *o);
// Compares the outputs of o->found with those of the original, into o->report. False: the device failed.
bool optimizing_judge(struct optimizing *o);
// Does a graph that o->found went through agree with the original, where o->found is compared? Without timing. False:
// the device failed.
bool optimizing_compare(struct optimizing *o, const struct graph *g, bool *ret_agrees);
