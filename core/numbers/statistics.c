// Order statistics: robust against the few slow samples that every timing has.
#include "core/numbers/statistics.h"

#include "core/memory/memory.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
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

// --- ratios ----------------------------------------------------------------------------------------------------------

#define UNKNOWN_FACTOR 1000   // how far the truth may be from a single ratio

// Of few samples the normal distribution's quantile makes intervals that are too short: of three loads 12 in 100 would
// say that one of two equal things is faster, instead of 2.5.
static double student_quantile(size_t freedom)
{
    static const double first[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
    const double of_normal = 1.959964, n = (double)freedom;
    if (freedom <= sizeof first / sizeof first[0])
        return first[freedom - 1];
    return of_normal + 2.3723 / n + 2.8225 / (n * n) + 2.5558 / (n * n * n);   // Abramowitz and Stegun 26.7.5
}

// Of the mean of `count` numbers, half of the interval's length: nothing is known from one of them.
static double half_interval(const double *numbers, size_t count)
{
    double mean = mean_of(numbers, count), squares = 0;
    if (count < 2)
        return log(UNKNOWN_FACTOR);
    for (size_t i = 0; i < count; i++)
        squares += (numbers[i] - mean) * (numbers[i] - mean);
    return student_quantile(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
}

// A median of normal numbers varies by so much more than their mean.
#define MEDIAN_BESIDE_MEAN 1.2533

static struct ratio_summary summarize_one_load(const double *ratios, size_t count, double median, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = log(ratios[i]);
    double half = MEDIAN_BESIDE_MEAN * half_interval(scratch, count);
    return (struct ratio_summary){median, median * exp(-half), median * exp(half), 1};
}

struct ratio_summary ratios_summarize(double *ratios, const size_t *ends, size_t n_loads)
{
    assert(n_loads > 0 && ends[0] > 0);
    struct ratio_summary summary;
    size_t n_ratios = ends[n_loads - 1], begin = 0;
    double *logarithms = mem_new_array(double, n_ratios);
    for (size_t i = 0; i < n_loads; begin = ends[i++])
        logarithms[i] = log(sample_summarize(ratios + begin, ends[i] - begin).median);
    double ratio = exp(mean_of(logarithms, n_loads)), half = half_interval(logarithms, n_loads);
    summary = n_loads == 1 ? summarize_one_load(ratios, n_ratios, ratio, logarithms)
                           : (struct ratio_summary){ratio, ratio * exp(-half), ratio * exp(half), n_loads};
    mem_free_array(logarithms, n_ratios);
    return summary;
}

bool ratio_is_a_gain(const struct ratio_summary *r)
{
    return r->low > 1;
}
