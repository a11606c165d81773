// Does a result of the search compute what the original computes? Both are run, with the layouts that suit each.
#pragma once
#include "optimizer/optimization.h"

// Whether models are timed: only the runtime or the device that the model is optimized for says how fast it is.
bool optimizing_is_timed(const struct optimizing *o);
size_t optimizing_bytes_of_weights(const struct optimizing *o);
bool optimizing_has_large_weights(const struct optimizing *o);
// Compares the outputs of o->found with those of the original, into o->report. False: the device failed.
//
bool optimizing_judge(struct optimizing *o);
// Does a graph that o->found went through agree with the original, where o->found is compared? Without timing. False:
// the device failed.
bool optimizing_compare(struct optimizing *o, const struct graph *g, bool *ret_agrees);
