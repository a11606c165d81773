// The sizes at which an equation was tested: those of the enumeration and the mixed ones.
#pragma once
#include "generator/reduce/minimal_equations.h"

struct equation_examples {
    int n, n_places;
    const struct size_place *places;
    const int32_t *sizes;   // of each example, n_places
};
// Allocated in `a`.
struct equation_examples equation_examples_make(struct arena *a, const struct shapes *s);
// The type of a variable of a rule graph at an example, and the attributes (in `a`) of a node or of a constant.
struct type equation_examples_type(const struct equation_examples *e, int example, const struct rule_graph *rg,
                                   int variable);
const struct attribute_value *equation_examples_attributes(struct arena *a, const struct equation_examples *e,
                                                           int example, const struct rule_graph *rg, reference r);
