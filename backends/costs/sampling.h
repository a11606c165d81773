// The sampler of times, on every device: samples are taken until their median is known.
#pragma once
#include "backends/contract/backend.h"

#define FEWEST_SAMPLES 4   // where they are nearly equal, as those of long steps are
#define FEWEST_OF_LONG 2   // the same of steps that take LONG_RUN
#define LEAST_SAMPLES 7
#define MOST_SAMPLES 200
#define HOPELESS 2   // a choice that takes so many times the best so far is not sampled any more
struct samples {
    size_t n_all, n_quiet;   // quiet: nothing came between
    double all[MOST_SAMPLES], quiet[MOST_SAMPLES];
};
void samples_add(struct samples *s, double seconds, bool is_quiet);
// Their median is known to 3 %, or they are as many as are wanted, or none is near to `best` seconds.
bool samples_suffice(const struct samples *s, size_t most, double best);
bool samples_are_quiet(const struct samples *s);
// Sorts them. The lower quartile of the quiet ones, as what is still added to some of them was not the step's; with
// too few of these the shortest of all, which is doubtful. `by_median`: the median, of what errs both ways.
struct step_cost samples_cost(struct samples *s, bool by_median);
