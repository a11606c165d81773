// A substitution evaluated at given sizes and attribute values, many times: what does not change is looked up once.
#ifndef GENERATOR_TEST_SIZE_TEST_H
#define GENERATOR_TEST_SIZE_TEST_H
#include "generator/enumerate/evaluation_cache.h"
#include "generator/test/shapes.h"

// Which types a variable had and which calls a node was lately: sizes change a few at a time.
enum { TRIAL_MEMORY = 32 };
struct trial_variable {
    int64_t dim[MAX_RANK];
    const struct call_type *type;   // NULL: not in use
};
struct trial_call {
    const struct call_setting *setting;
    const struct call_type *inputs[2];
    const struct call *call;                  // NULL: not in use
    const struct call_type *const *results;   // NULL: ill-typed
};
struct trial {
    const struct sketch *sk;
    const struct shapes *shapes;
    struct calls *calls;
    bool is_trusting;   // what is well-typed is taken to be equal
    uint8_t order[MAX_SKETCH_NODES], n_until[MAX_SKETCH_OUTPUTS];   // the nodes, and how many each output needs
    uint8_t first_place[MAX_SKETCH_VARIABLES];                      // of each variable's axes among the sizes
    const struct call_setting *fixed[MAX_SKETCH_NODES];             // NULL: its attributes hold sizes
    uint32_t epoch;                                                 // of the calls in `lately`
    struct trial_variable types[MAX_SKETCH_VARIABLES][TRIAL_MEMORY];
    struct trial_call lately[MAX_SKETCH_NODES][TRIAL_MEMORY];
};
// A node with other attribute values than the sketch's.
struct setting_override {
    int node;
    const struct call_setting *setting;
};
// Of `shapes` the places are read. All three are kept, not copied.
void trial_init(struct trial *t, const struct sketch *sk, const struct shapes *shapes, struct calls *calls);
// Do source and target agree on field elements? `sizes` has one for every place.
enum verdict trial_judge(struct trial *t, const int64_t *sizes, const struct setting_override *overrides,
                         int n_overrides);
bool trial_holds_on_reals(struct trial *t, const int64_t *sizes);
#endif
