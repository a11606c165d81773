// Intervals of ratios that a few bad runs, or a load that differs from all others, do not spoil.
//
// Each draw of loads is a multiplicity for every load. All values are sorted once; the median of a draw is found by
// adding up multiplicities in that order until half of the drawn values are passed.
#include "core/numbers/paired_ratios.h"

#include "core/memory/vec.h"
#include "core/numbers/random.h"
#include "core/numbers/statistics.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_FACTOR 1000   // how far the truth may be from a single ratio
// Probabilities that the truth lies beyond one end of the interval, by enum ratio_looks.
static const double errors_of_looks[] = {0.025, 0.0079};

// --- distributions ---------------------------------------------------------------------------------------------------

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

// The probability of [-t, t], by Abramowitz and Stegun 26.7.3 and 26.7.4.
static double student_within(double t, size_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), cosine2 = cos(angle) * cos(angle);
    double term = freedom % 2 ? cos(angle) : 1, sum = freedom == 1 ? 0 : term;
    for (size_t k = freedom % 2 ? 3 : 2; k < freedom; k += 2) {
        term *= cosine2 * ((double)k - 1) / (double)k;
        sum += term;
    }
    return freedom % 2 ? 2 / acos(-1) * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double student_quantile(double probability, size_t freedom)
{
    double low = 0, high = 1;
    assert(freedom > 0 && probability > 0 && probability < 0.5);
    while (student_within(high, freedom) < 1 - 2 * probability)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(student_within(middle, freedom) < 1 - 2 * probability ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

// --- draws -----------------------------------------------------------------------------------------------------------

struct valued_block {
    double value;
    size_t block;
};
struct blocks {
    size_t n_values, n;
    struct valued_block *sorted;
    size_t *multiplicity, *sizes;   // of every block
};

COMPARISON(compare_values, struct valued_block, ORDER(x->value, y->value))

static void init_blocks(struct blocks *b, const double *values, const size_t *ends, size_t n)
{
    *b = (struct blocks){.n_values = ends[n - 1], .n = n};
    b->sorted = mem_new_array(struct valued_block, b->n_values);
    b->multiplicity = mem_new_array(size_t, n);
    b->sizes = mem_new_array(size_t, n);
    for (size_t i = 0, k = 0; i < n; i++) {
        b->sizes[i] = ends[i] - k;
        for (; k < ends[i]; k++)
            b->sorted[k] = (struct valued_block){values[k], i};
    }
    qsort(b->sorted, b->n_values, sizeof *b->sorted, compare_values);
}

static void free_blocks(struct blocks *b)
{
    mem_free_array(b->sorted, b->n_values);
    mem_free_array(b->multiplicity, b->n);
    mem_free_array(b->sizes, b->n);
}

// How many values were drawn.
static size_t draw_blocks(struct blocks *b, struct random *random)
{
    size_t n_drawn = 0;
    memset(b->multiplicity, 0, b->n * sizeof *b->multiplicity);
    for (size_t i = 0; i < b->n; i++) {
        size_t block = (size_t)random_below(random, b->n);
        b->multiplicity[block]++;
        n_drawn += b->sizes[block];
    }
    return n_drawn;
}

static double median_of_draw(const struct blocks *b, size_t n_drawn)
{
    size_t passed = 0, i = 0;
    for (; 2 * passed < n_drawn; i++)
        passed += b->multiplicity[b->sorted[i].block];
    double below = b->sorted[i - 1].value;
    if (2 * passed > n_drawn)
        return below;
    while (b->multiplicity[b->sorted[i].block] == 0)
        i++;
    return below + 0.5 * (b->sorted[i].value - below);
}

void ratios_draw_medians(const double *values, const size_t *ends, size_t n_blocks, double *ret_medians)
{
    struct random random = random_seed(n_blocks);
    struct blocks b FREED_BY(free_blocks);
    init_blocks(&b, values, ends, n_blocks);
    for (int k = 0; k < RATIO_REPLICATES; k++) {
        size_t n_drawn = draw_blocks(&b, &random);
        ret_medians[k] = median_of_draw(&b, n_drawn);
    }
    sample_summarize(ret_medians, RATIO_REPLICATES);
}

// --- neighbours ------------------------------------------------------------------------------------------------------

size_t ratios_of_neighbours(const double *a, const double *b, size_t n, bool is_a_first, double *ret_ratios)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        ret_ratios[count++] = a[i] / b[i];
        if (i + 1 < n)
            ret_ratios[count++] = is_a_first ? a[i + 1] / b[i] : a[i] / b[i + 1];
    }
    return count;
}

// --- intervals -------------------------------------------------------------------------------------------------------

struct interval {
    double middle, low, high;   // of logarithms
};

static double median_of(const double *values, size_t count)
{
    LOCAL_ARRAY(double, copy, count);
    memcpy(copy, values, count * sizeof *copy);
    return sample_summarize(copy, count).median;
}

static struct interval interval_of_student(const double *values, const size_t *ends, size_t n, double error)
{
    double medians[RATIO_LEAST_BLOCKS], mean = 0, squares = 0, half = log(UNKNOWN_FACTOR);
    assert(n <= RATIO_LEAST_BLOCKS);
    for (size_t i = 0, begin = 0; i < n; begin = ends[i++]) {
        medians[i] = median_of(values + begin, ends[i] - begin);
        mean += medians[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        squares += (medians[i] - mean) * (medians[i] - mean);
    if (n > 1)
        half = student_quantile(error, n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    return (struct interval){mean, mean - half, mean + half};
}

// Percentiles of draws from n blocks are too narrow by sqrt(n / (n - 1)), and by what Student's quantile is longer than
// the normal one.
static struct interval interval_of_draws(const double *values, const size_t *ends, size_t n, double error)
{
    LOCAL_ARRAY(double, medians, RATIO_REPLICATES);
    double middle = median_of(values, ends[n - 1]);
    ratios_draw_medians(values, ends, n, medians);
    double expanded = normal_below(-sqrt((double)n / (double)(n - 1)) * student_quantile(error, n - 1));
    size_t beyond = (size_t)(expanded * RATIO_REPLICATES);
    return (struct interval){middle, fmin(middle, medians[beyond]),
                             fmax(middle, medians[RATIO_REPLICATES - 1 - beyond])};
}

static struct interval interval_of(const double *values, const size_t *ends, size_t n_loads, double error)
{
    size_t parts[RATIO_BLOCKS_OF_A_LOAD], n_parts = RATIO_BLOCKS_OF_A_LOAD, count = ends[n_loads - 1];
    bool is_alone = n_loads == 1;
    if (is_alone) {
        n_parts = count < n_parts ? count : n_parts;
        for (size_t i = 0; i < n_parts; i++)
            parts[i] = (i + 1) * count / n_parts;
    }
    const size_t *of_blocks = is_alone ? parts : ends;
    size_t n = is_alone ? n_parts : n_loads;
    return n < RATIO_LEAST_BLOCKS ? interval_of_student(values, of_blocks, n, error)
                                  : interval_of_draws(values, of_blocks, n, error);
}

struct ratio_summary ratios_summarize(const double *ratios, const size_t *ends, size_t n_loads, enum ratio_looks looks)
{
    assert(n_loads > 0 && ends[0] > 0);
    size_t count = ends[n_loads - 1];
    LOCAL_ARRAY(double, logarithms, count);
    for (size_t i = 0; i < count; i++)
        logarithms[i] = log(ratios[i]);
    struct interval in = interval_of(logarithms, ends, n_loads, errors_of_looks[looks]);
    return (struct ratio_summary){exp(in.middle), exp(in.low), exp(in.high), n_loads};
}

bool ratio_is_a_gain(const struct ratio_summary *r)
{
    return r->low > 1;
}
