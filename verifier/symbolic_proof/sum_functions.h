// Functions of sums.
#pragma once
#include "verifier/symbolic_proof/sums.h"

const struct sum *sum_apply(struct sums *s, enum scalar_function fn, const struct sum *const *operands);
const struct sum *sum_element(struct sums *s, const struct sum *a);   // a formal one
const struct sum *sum_of_bag(struct sums *s, enum scalar_function fn, const struct sum *elements);
