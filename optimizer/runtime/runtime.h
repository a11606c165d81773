// The place where whole models are timed that our own executor is not to run in the end: in the runtime that the user
// has.
//
//   onnxruntime[:PROVIDER]   in a worker process; it also says how outputs differ there
//   a command                that is given a model's path and prints the seconds of one run as its last word
//
// A model is a file here. What is compared is loaded several times: where weights come to lie in memory makes a session
// faster or slower by percents for as long as it lives.
#pragma once
#include "optimizer/run/comparison.h"
#include "optimizer/runtime/worker.h"

struct runtime {
    const char *command;   // NULL: the worker
    struct worker worker;
    bool is_open;
    bool has_apart;        // models are too large to be there side by side
    int64_t index_limit;   // integers that the original takes there are below it
    int attempt;           // which real numbers it has as inputs (model_inputs_vary)
};

// The same as in struct contest.
struct runtime_timing {
    double seconds, deadline;
    int loads;
    const double *expected;
};

const char *runtime_name(const struct runtime *r);
void runtime_close(struct runtime *r);   // {0} is allowed
// Is this name of a runtime, as options have it, onnxruntime[:PROVIDER]? The provider is NULL where none is named.
bool runtime_is_onnxruntime(const char *name, const char **ret_provider);
// Can it be asked how outputs differ?
bool runtime_compares(const struct runtime *r);
// The outputs of two models on the sets of inputs that the worker has, in their order; `tolerance` as of
// recordings_compare.
bool runtime_compare(struct runtime *r, const char *a, const char *b, int n_sets, double tolerance,
                     output_comparisons *ret_outputs, struct error *error);
// A single thread from the next load on, which is timed by what it did, not by what others took from it. False: it
// cannot.
bool runtime_use_one_thread(struct runtime *r, struct error *error);
// Holds a contest (optimizer/run/contest.h) between two models, of which b is the result: a's time over b's.
// Interrupted, it may say nothing: then there were no loads.
bool runtime_time(struct runtime *r, const char *a, const char *b, const struct runtime_timing *timing,
                  struct side_by_side *ret_times, struct error *error);
