// Order statistics: robust against the few slow samples that every timing has.
#include "core/numbers/statistics.h"

#include "core/memory/memory.h"
#include "core/numbers/random.h"
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

#define BOOTSTRAP_ROUNDS 1000

struct loads {
    const double *ratios;   // of each load sorted
    const size_t *ends;
    size_t count;
    uint32_t *drawn;   // scratch: how often each ratio of a load was drawn
};

static size_t begin_of(const struct loads *l, size_t load)
{
    return load ? l->ends[load - 1] : 0;
}

// The (lower) median of as many ratios as the load has, drawn from it with replacement.
static double draw_median(const struct loads *l, size_t load, struct random *random)
{
    size_t begin = begin_of(l, load), n = l->ends[load] - begin, at = 0;
    for (size_t i = 0; i < n; i++)
        l->drawn[i] = 0;
    for (size_t i = 0; i < n; i++)
        l->drawn[random_below(random, n)]++;
    for (size_t passed = l->drawn[0]; passed < (n + 1) / 2; passed += l->drawn[++at]) {
    }
    return l->ratios[begin + at];
}

// One load less than there are is drawn: so the variance between few loads is not taken for too small (Rao and Wu
// 1988).
static double draw_logarithm(const struct loads *l, struct random *random)
{
    size_t n = l->count > 1 ? l->count - 1 : 1;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(draw_median(l, random_below(random, l->count), random));
    return sum / (double)n;
}

struct ratio_summary ratios_summarize(double *ratios, const size_t *ends, size_t n_loads)
{
    struct loads l = {ratios, ends, n_loads, NULL};
    double logarithms[BOOTSTRAP_ROUNDS], sum = 0;
    struct random random = random_seed(1);
    assert(n_loads > 0 && ends[0] > 0);
    for (size_t i = 0; i < n_loads; i++)
        sum += log(sample_summarize(ratios + begin_of(&l, i), ends[i] - begin_of(&l, i)).median);
    l.drawn = mem_new_array(uint32_t, ends[n_loads - 1]);
    for (int i = 0; i < BOOTSTRAP_ROUNDS; i++)
        logarithms[i] = draw_logarithm(&l, &random);
    mem_free_array(l.drawn, ends[n_loads - 1]);
    qsort(logarithms, BOOTSTRAP_ROUNDS, sizeof *logarithms, compare_reals);
    double ratio = exp(sum / (double)n_loads);
    return (struct ratio_summary){ratio, fmin(ratio, exp(quantile(logarithms, BOOTSTRAP_ROUNDS, 0.025))),
                                  fmax(ratio, exp(quantile(logarithms, BOOTSTRAP_ROUNDS, 0.975))), n_loads};
}

bool ratio_is_a_gain(const struct ratio_summary *r)
{
    return r->low > 1;
}
