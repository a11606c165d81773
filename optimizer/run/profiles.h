// The sizes that a model with symbols is optimized for, and those that its result is checked at.
#pragma once
#include "core/text/options.h"
#include "onnx/convert/imported_model.h"

struct cut_plan;

#define MOST_PROFILES 8
#define N_CHECKS 3

struct size_bindings {
    size_t n_profiles, n_checks;
    int64_t profiles[MOST_PROFILES][MAX_SYMBOLS];
    int64_t checks[N_CHECKS][MAX_SYMBOLS];   // at random, near the profiles
};

struct profile_request {
    const struct imported_model *model;
    const struct import_options *import;   // that it was imported with
    const struct cut_plan *plan;           // of its graph
    const struct option_list *options;     // SYMBOL=SIZE,SIZE,... or several of these with spaces between
    const int64_t *given;                  // for each symbol a size that the user's arrays have; 0: none
    uint64_t seed;
};

// All combinations of what options say are profiles. Symbols that none names have the size that is given, else one by
// where they stand (1 at the front, 224 for images, else 128), halved until the model has a result of moderate size, or
// one that the model was imported at, where it has no types for that. False (EXIT_USAGE): an option names no symbol, or
// the model has no type at a profile.
bool profiles_choose(struct size_bindings *ret_bindings, const struct profile_request *r, struct error *error);
void bindings_drop_check(struct size_bindings *b, size_t check);
// Has the model types at these sizes?
bool profile_is_typed(const struct imported_model *m, const struct cut_plan *plan, const int64_t *binding);
// "batch=1, sequence=128"
void profile_print(struct text *out, const struct imported_model *m, const int64_t *binding);
