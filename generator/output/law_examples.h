// The sizes at which a law was tested: those of the enumeration and the mixed ones.
#pragma once
#include "generator/reduce/minimal_laws.h"

struct arena;

struct law_examples {
    int n, n_places;
    const struct size_place *places;
    const int32_t *sizes;   // of each example, n_places
};
// Allocated in `a`.
struct law_examples law_examples_make(struct arena *a, const struct shapes *s);
// Of a rule graph at one of them: what a variable is; what the attributes of a node or of a constant are (in `a`).
struct type law_examples_type(const struct law_examples *e, int example, const struct rule_graph *sk, int variable);
const struct attribute_value *law_examples_attributes(struct arena *a, const struct law_examples *e, int example,
                                                      const struct rule_graph *sk, reference r);
