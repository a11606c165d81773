// How many samples of a time a cost takes, on every device: until their median is known.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define FEWEST_SAMPLES 4   // where they are nearly equal, as those of long steps are
#define LEAST_SAMPLES 7
#define MOST_SAMPLES 200
// Is the median of `count` <= MOST_SAMPLES samples, in any order, known to 2 %?
bool samples_suffice(const double *samples, size_t count);
