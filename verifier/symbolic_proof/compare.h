// Equality of sums.
#pragma once
#include "verifier/symbolic_proof/sums.h"

// Are they equal wherever all of `assumed` are at least 0? "No" means that nothing is known.
bool sums_equal(struct sums *s, const poly *assumed, uint32_t n_assumed, const struct sum *a, const struct sum *b);
