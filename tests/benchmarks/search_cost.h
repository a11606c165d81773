// A made-up cost for benchmarks and tests of the search: launch, arithmetic and memory traffic of every operator that
// is not known before the graph runs. Broadcasts and reshapes are free.
#ifndef TESTS_BENCHMARKS_SEARCH_COST_H
#define TESTS_BENCHMARKS_SEARCH_COST_H
#include "optimizer/search/cost_model.h"

double made_up_seconds(void *context, const struct graph *g);
#endif
