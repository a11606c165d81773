// The outputs of the original, recorded once: results, and its own inexact kernels, are compared with that.
#pragma once
#include "optimizer/run/comparison.h"

// Zeros, but for the first ones, until it is recorded.
struct reference {
    size_t n_inputs;
    struct model_inputs given;   // by the user; count 0: none
    uint64_t seed;
    int rounds;
    bool is_there;
    bool is_cut;   // an end was asked for meanwhile, so there may be fewer rounds and attempts
    struct recording recordings[INPUT_ATTEMPTS];
    bool is_recorded[INPUT_ATTEMPTS];   // outputs of that attempt tell something that those before do not
    struct arena arena;
};
// Records when all outputs tell something: numbers are looked for at which the model is finite, and not constant.
// False: the device failed.
bool reference_record(struct reference *r, struct model *m, const struct graph *g, struct error *error);
// Is it there, and whole? One that was cut serves as long as an end is asked for.
bool reference_serves(const struct reference *r);
// The worst of all attempts. `g` as of model_record.
bool reference_compare(const struct reference *r, struct model *m, const struct graph *g, double tolerance,
                       output_comparisons *ret_outputs, struct error *error);
void reference_free(struct reference *r);   // it can be recorded again
