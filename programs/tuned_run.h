// The kernels of a model are tuned (tuning/tune_plan.h), and it is timed before and after.
#pragma once
#include "backends/contract/backend.h"
#include "optimizer/run/loaded_model.h"

struct tuned_run {
    const char *program;   // that tells its progress on stderr
    struct backend *backend;
    struct loaded_model *loaded;
    const struct tensor_value *inputs;
    double seconds;           // of tuning
    double measure_seconds;   // about how long both are timed then
    uint64_t seed;
    const char *command;   // (tuning_options)
    int part, parts;       // (tuning_options)
};
// Prints the report on stdout. The model is replaced by one that runs by what was found. False: the device failed, and
// the model may be NULL.
bool tuned_run_replace(const struct tuned_run *run, struct model **model, struct error *error);
