// Results that only our own executor reads: compiled models, written instead of ONNX ones where the output's name ends
// in .taso.
#pragma once
#include "optimizer/job/optimization.h"

// Compiled models: whether the output is one; whether its name says what is wanted there; whether the
// options allow it; whether the model does, once it is imported.
bool optimizing_compiles(const struct optimize_options *options);
bool optimizing_check_ending(const struct optimize_options *options, struct error *error);
bool optimizing_check_compilation(const struct optimize_options *options, struct error *error);
bool optimizing_can_compile(struct optimizing *o);
// Writes one of the original's graph, or of a result's, as it is run (cut_plan).
bool optimizing_compile(struct optimizing *o, const struct graph *g, bool is_result, const char *path,
                        struct error *error);
