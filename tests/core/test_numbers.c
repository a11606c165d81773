// Random streams, hashes and statistics: fixed vectors, distributions, slow definitions.
#include "core/memory/hash.h"
#include "core/numbers/statistics.h"
#include "core/system/clock.h"
#include "tests/support/check.h"

TEST(streams_are_the_published_ones)
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

TEST(streams_never_change)
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

TEST(below_is_uniform)
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

TEST(units_and_normals_have_their_moments)
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

TEST(keyed_functions_differ_by_key_and_value)
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

TEST(hashes_are_xxh3)
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

TEST(quantiles_by_hand)
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
TEST(medians_lie_in_their_interval)
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

// Time that this thread does not work is not counted when it is alone, and is told; with others it is what the clock
// says.
TEST(stopwatches_count_what_was_worked)
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
