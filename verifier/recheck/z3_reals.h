// Real numbers as terms of Z3, and the execution of definitions on them.
#pragma once
#include "expressions/definition.h"
#include <z3.h>

struct z3_value {
    double number;   // when `term` is NULL; infinities stand for the values below and above all others
    Z3_ast term;
};
struct z3_reals {
    Z3_context z3;
    Z3_sort sort;
    Z3_func_decl functions[FN_COUNT];                   // those that are uninterpreted; NULL until they are met
    bool has_reciprocals, has_maxima, has_increasing;   // functions of these kinds were met
    bool has_lawful;   // and such as are odd or even, or make products of sums, which Z3 is not told
};
Z3_ast z3_term(struct z3_reals *r, struct z3_value value);
// As evaluate_f64 (expressions/evaluation/evaluate.h); the definition does not depend on data.
void evaluate_z3(const struct definition *d, struct z3_reals *r, const struct z3_value *const *inputs,
                 struct z3_value *const *outputs, struct arena *scratch);
