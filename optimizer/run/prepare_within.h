// Models whose inexact choices (backends/contract/choice.h) together move no output further than the backend allows.
//
// A kernel's own error is known of its own result, and says little of the model's outputs: a later step may make it
// larger, as a tanh does behind large sums. So the model runs on random inputs by its choices and by standard ones
// alone, with the same layouts. Where outputs differ by more than is allowed, some inexact choices are taken back
// (backend_take_back) until the others agree: as few as suffice, those first that move outputs most for the seconds
// that they gain. What one of them does is seen by running it alone, while there is time; until then it has a share of
// what all do, by its own error.
#pragma once
#include "backends/contract/backend.h"

struct reference;

struct within_request {
    struct backend *backend;
    const struct graph *graph;
    const uint8_t *layouts;   // may be NULL
    const struct given_weights *weights;
    uint64_t seed;
    bool is_only_judged;   // nothing is prepared but for that, and no model where there is nothing to judge
    // Outputs of the model, or of another one that computes the same, by exact choices: whatever agrees with them needs
    // no standard of its own, and a standard is recorded there if nothing is yet. NULL: it has one of its own.
    struct reference *reference;
};
// Findings; zeros before. Choices that stayed within are not run again by the same one.
struct within_error {
    double difference;       // from the standard, of the worst output, as a share of its largest entry; 0: all is exact
    uint32_t n_taken_back;   // by text
    uint64_t passed;
};
// NULL: as of backend_prepare_from.
struct model *prepare_within(const struct within_request *r, struct within_error *within, struct error *error);
// The model with layouts by the backend's policy.
struct model *prepare_within_by_policy(const struct within_request *r, struct within_error *within,
                                       struct error *error);
