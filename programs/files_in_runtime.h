// taso-run --runtime: two model files in the user's ONNX Runtime, in the contest that taso-opt holds.
#pragma once
#include "optimizer/run/loaded_model.h"
#include <stdbool.h>

struct files_in_runtime {
    const char *paths[2];
    const char *runtime, *python;   // as of optimize_options
    int threads;                    // 0: as ONNX Runtime takes
    double seconds, tolerance;
    const struct loaded_model *model;    // of the first, whose inputs tell what both are run on
    const struct tensor_value *inputs;   // one for each of these
    const char *json;                    // a file; NULL: none
};
// Prints times, the ratio with its interval, and how outputs differ. False: `error` says why; EXIT_CHECK_FAILED where
// outputs differ or say nothing.
bool files_in_runtime_compare(const struct files_in_runtime *f, struct error *error);
