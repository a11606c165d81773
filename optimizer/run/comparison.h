// Two prepared models: do they compute the same?
#pragma once
#include "backends/contract/backend.h"
#include "core/numbers/paired_ratios.h"
#include "core/numbers/statistics.h"
#include "optimizer/run/output_comparison.h"

struct model_inputs {
    size_t count;
    struct tensor_value *values;   // by the index of the input leaves; those that nobody reads have no data
};
// Random values for the inputs that outputs of a graph depend on, all with elements that are numbers: normal ones for
// floating-point types, integers below a limit, as they are mostly indices, and coins.
void model_inputs_fill(struct model_inputs *ret_inputs, const struct graph *g, size_t count, uint64_t seed,
                       int64_t integers, struct arena *arena);
// Makes others of normal numbers, of which there are INPUT_ATTEMPTS, 0 being these: positive ones, small ones, some
// between 0 and 1 and above 1, each of them for all inputs, and mixed. A root, a logarithm or an inverse of a sine is
// not finite at others.
#define INPUT_ATTEMPTS 9
void model_inputs_vary(struct model_inputs *inputs, int attempt);

// The user's data takes the place of what was filled in, where there is some.
void model_inputs_give(struct model_inputs *inputs, const struct model_inputs *given);

// The outputs of a model for sets of random inputs of one attempt, round by round.
struct recording {
    int rounds;
    size_t n_outputs;
    struct tensor_value *values;   // rounds * n_outputs
};
// `g` is the model's graph, or one with the same inputs and outputs; what is given is for the first round of the first
// attempt. Of `rounds` the first one alone is made where an end is asked for. False: the device failed.
bool model_record(struct model *m, const struct graph *g, size_t n_inputs, const struct model_inputs *given,
                  uint64_t seed, int attempt, int rounds, struct arena *arena, struct recording *ret_recording,
                  struct error *error);
// The tolerance that is wanted, or a larger one for graphs with 16-bit numbers, or with products in TF32.
double comparison_tolerance(const struct graph *g, bool allows_tf32, double wanted);
// All rounds of each output that both have.
void recordings_compare(const struct recording *a, const struct recording *b, bool is_where_finite, double tolerance,
                        output_comparisons *ret_outputs);

// Two models that were timed by turns.
struct side_by_side {
    struct sample_summary times[2];   // seconds of one run
    struct ratio_summary gain;        // the first over the second
    bool is_disturbed;                // others use this machine: nothing is told
};
