// The median is known when the middle half of the samples lies within 3 % of it, or few of them all lie within 3 %:
// what a step takes within a model differs more.
#include "backends/costs/sampling.h"

#include "backends/limits.def"
#include "core/numbers/statistics.h"
#include <math.h>
#include <string.h>

void samples_add(struct samples *s, double seconds, bool is_quiet)
{
    s->all[s->n_all++] = seconds;
    if (is_quiet)
        s->quiet[s->n_quiet++] = seconds;
}

static bool is_median_known(const double *samples, size_t count)
{
    double sorted[MOST_SAMPLES];
    if (count < FEWEST_OF_LONG)
        return false;
    memcpy(sorted, samples, count * sizeof *sorted);
    sample_summarize(sorted, count);
    if (count < FEWEST_SAMPLES && sorted[0] < LONG_RUN)
        return false;
    if (count < LEAST_SAMPLES)
        return sorted[count - 1] <= (1 + WANTED_UNCERTAINTY) * sorted[0];
    return sample_median_uncertainty(sorted, count) < WANTED_UNCERTAINTY;
}

// The first ones may be long for other reasons.
static bool is_hopeless(const struct samples *s, double best)
{
    return s->n_all && SMALLEST(double, INFINITY, size_t, i, s->n_all, s->all[i]) > HOPELESS * best;
}

bool samples_suffice(const struct samples *s, size_t most, double best)
{
    return s->n_all >= most || is_hopeless(s, best) || is_median_known(s->quiet, s->n_quiet);
}

bool samples_are_quiet(const struct samples *s)
{
    return s->n_quiet >= FEWEST_SAMPLES || s->n_quiet == s->n_all || is_median_known(s->quiet, s->n_quiet);
}

struct step_cost samples_cost(struct samples *s, bool by_median)
{
    bool is_quiet = samples_are_quiet(s);
    struct sample_summary summary =
        is_quiet ? sample_summarize(s->quiet, s->n_quiet) : sample_summarize(s->all, s->n_all);
    double seconds = by_median ? summary.median : is_quiet ? summary.quartile1 : summary.minimum;
    return (struct step_cost){.seconds = seconds, .spread = summary.spread, .is_doubtful = !is_quiet};
}
