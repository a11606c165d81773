// Robust statistics of samples.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct sample_summary {
    size_t count;
    double minimum, quartile1, median, quartile3, maximum, mean;
    double spread;   // (quartile3 - quartile1) / median, 0 when the median is 0
};
// Sorts `samples` in place. Quantiles by linear interpolation (type 7 of Hyndman and Fan 1996). count > 0.
struct sample_summary sample_summarize(double *samples, size_t count);
// Half-width of an approximate 95 % confidence interval of the median, from order statistics, as a share of the median.
double sample_median_uncertainty(const double *sorted, size_t count);

// How many times longer one thing takes than another, from pairs of times taken by turns.
struct ratio_summary {
    double ratio, low,
        high;   // the geometric mean of the loads' medians, and its 95 % interval; 0 < low <= ratio <= high
    size_t n_loads;
};
// `ratios` are positive, load after load: what was timed is loaded several times, because where it lies in memory
// matters, and load i ends before ends[i]. The interval is Student's, of the logarithms of the loads' medians; of one
// load, of its ratios. It holds what it says only where the number of loads does not depend on what they came to.
// Sorts each load in place. n_loads > 0, no load is empty.
struct ratio_summary ratios_summarize(double *ratios, const size_t *ends, size_t n_loads);
// The verdict of every timing: the second thing is faster, beyond what noise and memory placement explain.
bool ratio_is_a_gain(const struct ratio_summary *r);
