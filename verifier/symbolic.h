// Execution of a definition on polynomials: every entry of its outputs as a polynomial of the entries of its inputs.
#ifndef VERIFIER_SYMBOLIC_H
#define VERIFIER_SYMBOLIC_H
#include "verifier/polynomial.h"

struct arena;

// A value on its way through the evaluator. Constants stay literal until they meet the pool.
struct symbolic_value {
    bool is_literal;
    polynomial number;   // unless literal
    double literal;
};

// Arrays as in operators/evaluate.h. False: the definition looks at data (gather), and has no symbolic meaning.
// On success no output is literal.
bool evaluate_symbolic(const struct definition *d, struct polynomial_pool *pool,
                       const struct symbolic_value *const *inputs, struct symbolic_value *const *outputs,
                       struct arena *scratch);
#endif
