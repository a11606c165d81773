// Order statistics: robust against the few slow samples that every timing has.
#include "core/numbers/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static double mean_of(const double *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    return sum / (double)count;
}

static double quantile(const double *sorted, size_t count, double q)
{
    assert(count > 0 && q >= 0 && q <= 1);
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    double share = position - (double)below;
    return share == 0 ? sorted[below] : sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

struct sample_summary sample_summarize(double *samples, size_t count)
{
    assert(count > 0);
    qsort(samples, count, sizeof *samples, compare_reals);
    struct sample_summary s = {
        .count = count,
        .minimum = samples[0],
        .quartile1 = quantile(samples, count, 0.25),
        .median = quantile(samples, count, 0.5),
        .quartile3 = quantile(samples, count, 0.75),
        .maximum = samples[count - 1],
        .mean = mean_of(samples, count),
    };
    s.spread = s.median != 0 ? (s.quartile3 - s.quartile1) / s.median : 0;
    return s;
}

// The number of samples below the median is binomial(n, 1/2): the interval runs between the order statistics at
// n/2 -+ 0.98 sqrt(n), or over all samples when there are too few for that.
double sample_median_uncertainty(const double *sorted, size_t count)
{
    assert(count > 0);
    double half = 0.98 * sqrt((double)count), middle = 0.5 * (double)(count - 1);
    double low = floor(middle - half), high = ceil(middle + half), last = (double)(count - 1);
    double width = sorted[(size_t)(high > last ? last : high)] - sorted[(size_t)(low < 0 ? 0 : low)];
    double median = quantile(sorted, count, 0.5);
    return median != 0 ? 0.5 * width / fabs(median) : 0;
}
