// The median is known when the middle half of the samples lies within 2 % of it, or few of them all lie within 2 %.
#include "backends/costs/sampling.h"

#include "core/numbers/statistics.h"
#include <string.h>

#define WANTED_UNCERTAINTY 0.02
bool samples_suffice(const double *samples, size_t count)
{
    double sorted[MOST_SAMPLES];
    if (count < FEWEST_SAMPLES)
        return false;
    memcpy(sorted, samples, count * sizeof *sorted);
    sample_summarize(sorted, count);
    if (count < LEAST_SAMPLES)
        return sorted[count - 1] <= (1 + WANTED_UNCERTAINTY) * sorted[0];
    return sample_median_uncertainty(sorted, count) < WANTED_UNCERTAINTY;
}
