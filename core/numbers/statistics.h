// Robust statistics of samples.
#pragma once
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
