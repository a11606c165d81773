// Random streams, hashes and statistics: fixed vectors, distributions, slow definitions.
#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "core/numbers/statistics.h"
#include "core/system/clock.h"
#include "tests/support/check.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static void streams_are_the_published_ones(void **state)
{
    // The first outputs of xoshiro256** for the state 1, 2, 3, 4 (as in its authors' reference), and of splitmix64
    // for the seed 0.
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240};
    static const uint64_t splitmix[] = {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC};
    struct random r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_true(random_next(&r) == expected[i]);
    r = random_seed(0);
    assert_memory_equal(r.s, splitmix, sizeof splitmix);
}

static void streams_never_change(void **state)
{
    struct random r = random_seed(42);
    uint64_t digest = 0;
    for (int i = 0; i < 1000; i++) {
        double unit = random_unit(&r), normal = random_normal(&r);
        uint64_t numbers[5] = {random_next(&r), random_below(&r, 1000), random_keyed(i, i * i)};
        memcpy(&numbers[3], &unit, 8);
        memcpy(&numbers[4], &normal, 8);
        digest = hash_bytes(numbers, sizeof numbers, digest);
    }
    assert_int_equal(digest, 0x8A26494D29CED943u);
}

static void below_is_uniform(void **state)
{
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 64};
    struct random r = random_seed(1);
    for (size_t b = 0; b < COUNT_OF(bounds); b++) {
        unsigned counts[64] = {0};
        unsigned draws = 10000 * (unsigned)bounds[b];
        for (unsigned i = 0; i < draws; i++) {
            uint64_t x = random_below(&r, bounds[b]);
            assert_true(x < bounds[b]);
            counts[x]++;
        }
        for (size_t k = 0; k < bounds[b]; k++)
            assert_in_range(counts[k], 9500, 10500);
    }
    for (int i = 0; i < 1000; i++)
        assert_true(random_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void units_and_normals_have_their_moments(void **state)
{
    enum { DRAWS = 200000 };
    struct random r = random_seed(2);
    double unit_sum = 0, sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < DRAWS; i++) {
        double unit = random_unit(&r), normal = random_normal(&r);
        assert_true(unit >= 0 && unit < 1);
        assert_true(isfinite(normal));
        unit_sum += unit;
        sum += normal;
        squares += normal * normal;
        fourths += normal * normal * normal * normal;
    }
    assert_true(fabs(unit_sum / DRAWS - 0.5) < 0.005);
    assert_true(fabs(sum / DRAWS) < 0.01);
    assert_true(fabs(squares / DRAWS - 1) < 0.02);
    assert_true(fabs(fourths / DRAWS - 3) < 0.1);
}

static void keyed_functions_differ_by_key_and_value(void **state)
{
    enum { SIDE = 64 };
    uint64_t seen[SIDE * SIDE];
    size_t count = 0;
    for (uint64_t key = 0; key < SIDE; key++)
        for (uint64_t value = 0; value < SIDE; value++) {
            uint64_t y = random_keyed(key, value);
            assert_true(y == random_keyed(key, value));
            for (size_t i = 0; i < count; i++)
                assert_true(seen[i] != y);
            seen[count++] = y;
        }
}

static void hashes_are_xxh3(void **state)
{
    // XXH3 of the empty input, from the specification's test vectors.
    assert_true(hash_bytes(NULL, 0, 0) == 0x2D06800538D394C2u);
    struct hash128 empty = hash_bytes_128(NULL, 0, 0);
    assert_true(empty.high == 0x99AA06D3014798D8u && empty.low == 0x6001C324468D497Fu);
    assert_true(hash_string("abc") == hash_bytes("abc", 3, 0));
    assert_true(hash_bytes("abc", 3, 1) != hash_bytes("abc", 3, 0));
    assert_true(hash_mix(1, 2) != hash_mix(2, 1));
    assert_true(hash_mix(0, 0) != 0);
}

static void quantiles_by_hand(void **state)
{
    double samples[] = {4, 1, 3, 2};
    struct sample_summary s = sample_summarize(samples, 4);
    assert_int_equal(s.count, 4);
    assert_true(s.minimum == 1 && s.maximum == 4 && s.mean == 2.5);
    assert_true(s.quartile1 == 1.75 && s.median == 2.5 && s.quartile3 == 3.25);
    assert_true(s.spread == 1.5 / 2.5);
    double one = 7;
    s = sample_summarize(&one, 1);
    assert_true(s.minimum == 7 && s.median == 7 && s.quartile3 == 7 && s.spread == 0);
    assert_true(sample_median_uncertainty(&one, 1) == 0);
    double zeros[3] = {0};
    assert_true(sample_summarize(zeros, 3).spread == 0);
    assert_true(sample_median_uncertainty(zeros, 3) == 0);
}

// The interval must hold the true median of normal samples about 95 times in 100.
static void medians_lie_in_their_interval(void **state)
{
    enum { ROUNDS = 1000, SAMPLES = 51 };
    struct random r = random_seed(4);
    int held = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double samples[SAMPLES];
        for (int i = 0; i < SAMPLES; i++)
            samples[i] = 10 + random_normal(&r);
        struct sample_summary s = sample_summarize(samples, SAMPLES);
        held += fabs(s.median - 10) <= s.median * sample_median_uncertainty(samples, SAMPLES);
    }
    assert_in_range(held, 900, 995);
}

// Two loads of a model that differ by more than their runs do: the interval tells, and never reaches below 0. Their
// logarithms, 0 and log 4, have the standard error log 2, and Student's quantile for one degree of freedom is 12.7062.
static void ratios_of_loads_by_hand(void **state)
{
    double same[] = {2, 2, 2}, apart[] = {1, 1, 1, 4, 4, 4}, wild[] = {0.01, 1, 100}, alone[] = {3};
    const size_t one[] = {3}, two[] = {3, 6}, first[] = {1};
    struct ratio_summary r = ratios_summarize(same, one, 1);
    assert_true(fabs(r.ratio - 2) < 1e-12 && fabs(r.low - 2) < 1e-12 && fabs(r.high - 2) < 1e-12);
    r = ratios_summarize(apart, two, 2);
    assert_true(fabs(r.ratio - 2) < 1e-12 && r.n_loads == 2);
    assert_true(r.low > 0 && fabs(log2(r.low) - 1 + 12.7062) < 1e-9 && fabs(log2(r.high) - 1 - 12.7062) < 1e-9);
    r = ratios_summarize(wild, one, 1);
    assert_true(fabs(r.ratio - 1) < 1e-12 && r.low > 0 && r.low < 0.01 && fabs(r.low * r.high - 1) < 1e-9);
    r = ratios_summarize(alone, first, 1);
    assert_true(fabs(r.ratio - 3) < 1e-12 && r.low < 0.01 && r.high > 1000);   // nothing is known
}

static double half_of_interval(size_t n_loads)
{
    double ratios[64];
    size_t ends[64];
    assert_true(n_loads % 2 == 0 && n_loads <= 64);
    for (size_t i = 0; i < n_loads; i++) {
        ratios[i] = i % 2 ? exp(1) : exp(-1);
        ends[i] = i + 1;
    }
    return log(ratios_summarize(ratios, ends, n_loads).high) * sqrt((double)n_loads - 1);
}

static void students_quantiles_are_the_published_ones(void **state)
{
    static const struct {
        size_t n_loads;
        double quantile;
    } rows[] = {{2, 12.7062}, {4, 3.1824}, {6, 2.5706}, {10, 2.2622}, {12, 2.2010}, {20, 2.0930}, {40, 2.0227}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(fabs(half_of_interval(rows[i].n_loads) - rows[i].quantile) < 1e-3);
}

// How often, of so many contests of equal things, the interval lies above 1, and below it.
static void count_false_verdicts(size_t n_loads, size_t n_runs, int rounds, int *ret_faster, int *ret_slower)
{
    double ratios[100];
    size_t ends[20];
    struct random r = random_seed(5);
    *ret_faster = *ret_slower = 0;
    for (int round = 0; round < rounds; round++) {
        for (size_t load = 0; load < n_loads; load++) {
            double of_load = n_loads > 1 ? 0.1 * random_normal(&r) : 0;
            for (size_t i = 0; i < n_runs; i++)
                ratios[load * n_runs + i] = exp(of_load + 0.1 * random_normal(&r));
            ends[load] = (load + 1) * n_runs;
        }
        struct ratio_summary s = ratios_summarize(ratios, ends, n_loads);
        *ret_faster += ratio_is_a_gain(&s);
        *ret_slower += s.high < 1;
    }
}

// In 2.5 of 100 on each side, however few the loads are: 5 deviations of a binomial number are allowed.
static void equal_things_are_rarely_told_apart(void **state)
{
    enum { ROUNDS = 20000, MEANT = 500, ALLOWED = 110 };
    int faster, slower;
    for (size_t n_loads = 2; n_loads <= 20; n_loads += n_loads < 8 ? 1 : 6) {
        count_false_verdicts(n_loads, 3, ROUNDS, &faster, &slower);
        assert_in_range(faster, MEANT - ALLOWED, MEANT + ALLOWED);
        assert_in_range(slower, MEANT - ALLOWED, MEANT + ALLOWED);
    }
    for (size_t n_runs = 4; n_runs <= 16; n_runs *= 2) {   // of one load, which tells nothing of others
        count_false_verdicts(1, n_runs, ROUNDS, &faster, &slower);
        assert_in_range(faster, 0, MEANT + ALLOWED);
        assert_in_range(slower, 0, MEANT + ALLOWED);
    }
}

// What this thread does not work on is not counted when it is alone, and is told; with others it is what the clock
// says.
static void stopwatches_count_what_was_worked(void **state)
{
    struct stopwatch watch;
    struct lap lap;
    stopwatch_start(&watch, true);
    usleep(50000);
    lap = stopwatch_stop(&watch, true);
    assert_true(lap.seconds < 0.05 && lap.is_disturbed);
    stopwatch_start(&watch, false);
    usleep(50000);
    assert_true(stopwatch_stop(&watch, false).seconds >= 0.05);
    assert_true(clock_stolen_seconds() >= 0);
}

RUN_TESTS(TEST(streams_are_the_published_ones), TEST(streams_never_change), TEST(below_is_uniform),
          TEST(units_and_normals_have_their_moments), TEST(keyed_functions_differ_by_key_and_value),
          TEST(hashes_are_xxh3), TEST(quantiles_by_hand), TEST(medians_lie_in_their_interval),
          TEST(stopwatches_count_what_was_worked), TEST(ratios_of_loads_by_hand),
          TEST(students_quantiles_are_the_published_ones), TEST(equal_things_are_rarely_told_apart))
