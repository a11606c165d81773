// Which step reuses the tuned schedule of which other, so that all take the fewest trials: the cheapest
// arborescence of a graph whose root is the search from nothing (ETO's optimization choice graph).
#pragma once
#include "tuning/step_tuner.h"

#define TUNED_FROM_NOTHING (-1)
// `from_nothing` is how many trials that takes, at most; a step that has so many in the database takes none any more.
void reuse_plan_find(struct step_tuner *const *tuners, size_t n, size_t from_nothing, uint64_t seed, int *ret_parents);
// Has it all the trials that a search from nothing takes?
bool reuse_plan_is_tuned(const struct step_tuner *t, size_t from_nothing);
