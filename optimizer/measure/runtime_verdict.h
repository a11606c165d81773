// Verdicts of the user's runtime on graphs: they are exported, loaded and timed there as a whole, with its own fusions
// and threads.
#pragma once
#include "optimizer/job/optimization.h"

// Begins to start what the options name, or what suits them; optimizing_prepare_runtime, after the import, waits for
// it, gives it inputs, and tries the original. False: what was asked for is not there.
bool optimizing_open_runtime(struct optimizing *o);
bool optimizing_prepare_runtime(struct optimizing *o);
void optimizing_close_runtime(struct optimizing *o);
// The runtime failed at the original, or ended: from now on models are timed elsewhere, and that is said once.
void optimizing_do_without_runtime(struct optimizing *o, const struct error *error);
struct runtime_file {
    char path[300], data[310];   // the second: what is written beside large models
};
// A model under that name, in a temporary folder of the job's.
bool runtime_file_write(struct optimizing *o, struct onnx_model *model, const char *name, struct runtime_file *ret_file,
                        struct error *error);
bool runtime_file_write_graph(struct optimizing *o, const struct graph *g, const char *name,
                              struct runtime_file *ret_file, struct error *error);
void runtime_file_remove(const struct runtime_file *f);
// Times them by turns, until the deadline where --total-time is a limit. False: the runtime fails at one of them, or
// too few runs say something.
bool optimizing_time_pair_in_runtime(struct optimizing *o, const struct graph *a, const struct graph *b, double seconds,
                                     double deadline, struct side_by_side *ret_times);
// A comparison where nothing is timed in it: of a graph as it is written with the original as it is read, where there
// is an ONNX Runtime that runs the original.
void optimizing_check_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
// Compares a graph with the original and times both. False: the runtime is gone.
bool optimizing_judge_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
