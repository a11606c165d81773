// The seconds of a model's steps within it, for whoever looks for what is slow.
#pragma once
#include "backends/contract/backend.h"

// Adds the time of every step that runs each time, beside its cost, from so many runs.
bool step_times_add(struct text *out, struct backend *b, struct model *model, const struct tensor_value *inputs,
                    struct tensor_value *outputs, size_t n_runs, struct error *error);
