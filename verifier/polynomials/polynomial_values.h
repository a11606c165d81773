// Execution of a definition on polynomials: every entry of its outputs as a polynomial of the entries of its inputs.
#pragma once
#include "verifier/polynomials/polynomial.h"

struct arena;

// Arrays as in evaluate.h. False: the definition looks at data (gather), and has no symbolic meaning.
// `needed` has a byte for each entry of each stage; entries that are not needed become 0. NULL: all are.
bool evaluate_polynomials(const struct definition *d, struct polynomial_pool *pool, const polynomial *const *inputs,
                          uint8_t *const *needed, polynomial *const *outputs, struct arena *scratch);
