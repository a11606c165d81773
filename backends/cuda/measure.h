// The cost of a step on the device.
#pragma once
#include "backends/cuda/internal.h"

bool cuda_measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                  double best, struct step_cost *ret_cost, struct error *error);
void cuda_make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                     bool is_now);

// How the weights of a step are cold at each launch: copies that take turns, and whether the cache is swept before each
// sample, because the launches of a sample do not touch more than it holds; then each launch has a copy of its own.
#define MEASURE_MOST_LAUNCHES 256   // of a sample
struct rotation {
    int copies;
    bool is_swept;
};
struct rotation measure_rotation(size_t weight_bytes, size_t cache_bytes);
