// The sizes that a model with symbols is optimized for, and those that its result is checked at.
#pragma once
#include "core/text/options.h"
#include "onnx/convert/import.h"

struct cut_plan;
struct error;
struct text;

#define MOST_PROFILES 8
#define N_CHECKS 3

struct size_bindings {
    size_t n_profiles, n_checks;
    int64_t profiles[MOST_PROFILES][MAX_SYMBOLS];
    int64_t checks[N_CHECKS][MAX_SYMBOLS];   // at random, near the profiles
};

// Each option is SYMBOL=SIZE,SIZE,... or several of these with spaces between; all combinations are profiles. Symbols
// that none names have the size in `given` (one for each; 0: none), else one by where they stand (1 at the front, 224
// for images, else 128), or one that the model was imported at, where it has no types for that. False (EXIT_USAGE): an
// option names no symbol, or the model has no type at a profile. `plan` is of the model's graph.
bool profiles_choose(struct size_bindings *ret_bindings, const struct imported_model *m,
                     const struct option_list *options, const int64_t *given, const struct cut_plan *plan,
                     uint64_t seed, struct error *error);
void bindings_drop_check(struct size_bindings *b, size_t check);
// Has the model types at these sizes?
bool profile_is_typed(const struct imported_model *m, const struct cut_plan *plan, const int64_t *binding);
// "batch=1, sequence=128"
void profile_print(struct text *out, const struct imported_model *m, const int64_t *binding);
