// Latencies of several models, measured in turns.
#pragma once
#include "backends/contract/backend.h"
#include "core/numbers/statistics.h"

// Runs the models in turns, so that all of them see the same disturbances; `warmup` turns are not counted. Every model
// has its inputs and outputs; `ret_summaries` has one entry for each. Seconds.
struct timed_model {
    struct model *model;
    const struct tensor_value *inputs;
    struct tensor_value *outputs;
};
bool models_time_side_by_side(const struct timed_model *requests, size_t n, int64_t warmup, int64_t repeats,
                              struct sample_summary *ret_summaries, struct error *error);
