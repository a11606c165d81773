// Seeded pseudo-random numbers (splitmix64 for seeding, xoshiro256** for streams): the same on every machine.
#pragma once
#include <stdint.h>

struct random {
    uint64_t s[4];
};
struct random random_seed(uint64_t seed);
uint64_t random_next(struct random *r);
uint64_t random_below(struct random *r, uint64_t bound);   // uniform in [0, bound), bound > 0
double random_unit(struct random *r);                      // uniform in [0, 1)
double random_normal(struct random *r);                    // mean 0, variance 1
uint64_t random_keyed(uint64_t key, uint64_t value);       // a keyed pseudo-random function (stateless)
