// Running imported models on a device: weights bound, outputs compared, latencies measured side by side. What taso-run
// prints, and what taso-opt decides by.
#pragma once
#include "backends/contract/backend.h"
#include "core/numbers/statistics.h"
#include "onnx/convert/import.h"

struct error;

// The types of all weights that the live part of `g` reads, indexed as their leaves are; others are empty. `g` is the
// model's graph or one made from it by rewriting. Memory is the model's arena. A backend with this source takes the
// values from the model while it needs them.
const struct tensor_value *run_list_weights(struct imported_model *m, const struct graph *g);
struct weight_source run_weight_source(struct imported_model *m);

struct output_difference {
    double largest;        // max|a|, a being the reference
    double difference;     // max|a - b|; infinity when one has NaN or infinity where the other has not
    double relative;       // difference / largest; exact types: 0 or infinity
    bool is_trustworthy;   // false: the reference is constant, zero, or not finite, so that agreement says nothing
};
struct output_difference run_compare_outputs(const struct tensor_value *reference, const struct tensor_value *other);

// Runs the models in turns, so that all of them see the same disturbances; `warmup` turns are not counted. Every model
// has its inputs and outputs; `ret_summaries` has one entry for each. Seconds.
struct run_request {
    struct model *model;
    const struct tensor_value *inputs;
    struct tensor_value *outputs;
};
bool run_time_side_by_side(const struct run_request *requests, size_t n, int64_t warmup, int64_t repeats,
                           struct sample_summary *ret_summaries, struct error *error);
