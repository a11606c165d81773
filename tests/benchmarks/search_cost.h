// A made-up cost for benchmarks and tests of the search: launch, arithmetic and memory traffic of every operator that
// is not known before the graph runs. Broadcasts and reshapes are free.
#pragma once
#include "optimizer/search/cost_model.h"
#include <stdint.h>

double made_up_seconds(void *context, const struct graph *g);

// The same with a random factor for every operator at its attributes and shapes: prices as some machine may have them.
struct random_prices {
    uint64_t seed;
    double low, high;   // of the factors
};
double seconds_at_random_prices(void *context, const struct graph *g);   // `context` is a struct random_prices
