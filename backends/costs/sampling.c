// The median is known when the middle half of the samples lies within 2 % of it.
#include "backends/costs/sampling.h"

#include "core/numbers/statistics.h"
#include <string.h>

#define WANTED_UNCERTAINTY 0.02
bool samples_suffice(const double *samples, size_t count)
{
    double sorted[MOST_SAMPLES];
    if (count < LEAST_SAMPLES)
        return false;
    memcpy(sorted, samples, count * sizeof *sorted);
    sample_summarize(sorted, count);
    return sample_median_uncertainty(sorted, count) < WANTED_UNCERTAINTY;
}
