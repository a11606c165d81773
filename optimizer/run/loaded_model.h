// A model from a file, ONNX or compiled, for whoever only runs it.
#pragma once
#include "backends/contract/backend.h"
#include "onnx/convert/imported_model.h"
#include "optimizer/compiled/compiled_model.h"
#include "optimizer/run/prepare_within.h"

// Stays where it is while it is open.
struct loaded_model {
    const char *path;
    const struct graph *graph;
    size_t n_inputs, n_outputs;
    const struct imported_value *inputs, *outputs;
    size_t weight_bytes;
    bool is_compiled;
    struct compiled_model compiled;
    struct onnx_file file;   // of a model that is not compiled
    struct imported_model imported;
    struct weight_source weights;   // of what is prepared, which it outlives
    struct within_error within;     // of what is prepared
};
// A compiled model has its shapes: EXIT_USAGE when some are given.
bool loaded_model_open(struct loaded_model *ret_model, const char *path, const struct import_options *options,
                       struct error *error);
void loaded_model_close(struct loaded_model *m);
// A model prepared with the layouts of the backend's policy, or those that it was compiled with.
struct model *loaded_model_prepare(struct loaded_model *m, struct backend *b, struct error *error);

// Can it be run, on values that are made for all inputs? Else EXIT_USAGE (a size is not known) or EXIT_UNSUPPORTED.
bool loaded_model_check(const struct loaded_model *m, struct error *error);
bool loaded_model_check_inputs(const struct loaded_model *m, struct error *error);   // can they be made?
// Which of the values that a model is run with an input is.
size_t loaded_model_input_index(const struct loaded_model *m, size_t input);
// A value for each input, as they are to be run with, allocated in `arena`. Each input's numbers depend on the seed
// and its name alone: normal ones for floats, below `integer_limit` for integers, coins for bool. Only for models that
// loaded_model_check accepts.
struct tensor_value *loaded_model_make_inputs(const struct loaded_model *m, uint64_t seed, int64_t integer_limit,
                                              struct arena *arena);
