// What the user's runtime says of graphs: they are exported, loaded and timed there as a whole, with its own fusions
// and threads.
#pragma once
#include "optimizer/optimization.h"

// Begins to start what the options name, or what suits them; optimizing_prepare_runtime, after the import, waits for
// it, gives it inputs, and tries the original. False: what was asked for is not there.
bool optimizing_open_runtime(struct optimizing *o);
bool optimizing_prepare_runtime(struct optimizing *o);
void optimizing_close_runtime(struct optimizing *o);
// Times them by turns. False: the runtime fails at one of them.
bool optimizing_duel_in_runtime(struct optimizing *o, const struct graph *a, const struct graph *b, double seconds,
                                struct side_by_side *ret_times);
// Where nothing is timed in it: compares a graph as it is written with the original as it is read, where there is an
// ONNX Runtime that runs the original.
void optimizing_check_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
// Compares a graph with the original and times both. False: the runtime is gone.
bool optimizing_judge_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
