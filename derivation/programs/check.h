// Are two programs equal? Entries are compared over the prime field, where equal sums of products are equal numbers.
#pragma once
#include "derivation/programs/derivation.h"

struct check_limits {
    int n_random;       // entries at random places
    double most_work;   // operations for all entries that are looked at
};
// Compares entries at borders (of each axis the first two places, the last two, and one between; all combinations, or
// as many random ones as `most_work` is enough for), and at random places. Programs that differ at one of these entries
// are taken for equal with a probability below 2^-50. False: they differ there.
bool programs_agree(const struct derivation *dv, int one, int other, uint64_t seed, const struct check_limits *limits);
// Compares all entries; for small tensors.
bool programs_agree_everywhere(const struct derivation *dv, int one, int other, uint64_t seed);
