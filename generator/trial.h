// A substitution evaluated at given sizes and attribute values, many times: what does not change is looked up once.
#ifndef GENERATOR_TRIAL_H
#define GENERATOR_TRIAL_H
#include "generator/calls.h"
#include "generator/shapes.h"

struct trial {
    const struct sketch *sk;
    const struct shapes *shapes;
    struct calls *calls;
    uint8_t first_place[MAX_SKETCH_VARIABLES];            // of each variable's axes among the sizes
    const struct call_setting *fixed[MAX_SKETCH_NODES];   // NULL: its attributes hold sizes
    uint32_t epoch;                                       // of the calls, when `fixed` was looked up
};
// An attribute of a node with another value than the sketch's.
struct attribute_override {
    uint8_t node, attribute;
    struct attribute_value value;
};
// Of `shapes` the places are read. All three are kept, not copied.
void trial_init(struct trial *t, const struct sketch *sk, const struct shapes *shapes, struct calls *calls);
// Do source and target agree on field elements? `sizes` has one for every place.
enum verdict trial_judge(struct trial *t, const int64_t *sizes, const struct attribute_override *overrides,
                         int n_overrides);
bool trial_holds_on_reals(struct trial *t, const int64_t *sizes);
#endif
