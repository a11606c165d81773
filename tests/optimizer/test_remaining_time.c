// How long the rest of a job is expected to take, from phase to phase.
#include "optimizer/run/remaining_time.h"
#include "tests/support/check.h"

static struct remaining_time time_after(const struct phases *phases, size_t n_searches)
{
    return (struct remaining_time){.weight_bytes = 4e6,
                                   .of_timing = 3,
                                   .is_calibrated = true,
                                   .n_contenders = 4,
                                   .of_run = 0.01,
                                   .phases = phases,
                                   .n_searches = n_searches,
                                   .has_measured = true,
                                   .countdown = {INFINITY, NULL}};
}

// What is shown before it is known whether costs differ is not less than what is shown then.
static void another_search_is_expected_once(void **state)
{
    struct phases phases = {.seconds = {[PHASE_SEARCHING] = 60}, .processor_seconds = {[PHASE_SEARCHING] = 60}};
    struct remaining_time o = time_after(&phases, 1);
    double later = remaining_time_after_calibration(&o);
    o.countdown.seconds = later;
    remaining_time_search_again(&o, "costs differ");
    assert_true(o.countdown.seconds <= later && o.countdown.seconds >= 30);
    assert_true(remaining_time_after_calibration(&o) <= later - 30);
    o.countdown.seconds = 1;
    remaining_time_search_again(&o, "costs differ");
    assert_true(o.countdown.seconds > 30 && o.countdown.seconds <= later);
}

static void known_costs_are_not_expected_to_change(void **state)
{
    struct phases phases = {.seconds = {[PHASE_SEARCHING] = 60}, .processor_seconds = {[PHASE_SEARCHING] = 60}};
    struct remaining_time cold = time_after(&phases, 1), warm = cold;
    warm.has_measured = false;
    assert_true(remaining_time_after_calibration(&warm) < remaining_time_after_calibration(&cold) - 30);
    assert_true(remaining_time_repeats(&cold, false) == 0.5 && remaining_time_repeats(&warm, false) == 0);
}

// Nobody disturbs: another process works.
static void a_runtime_that_measures_is_not_slow(void **state)
{
    struct phases phases = {.seconds = {[PHASE_SEARCHING] = 60}, .processor_seconds = {[PHASE_SEARCHING] = 0.1}};
    struct remaining_time o = time_after(&phases, 0);
    o.is_calibrated = false;
    o.processors_measuring = 59.9;
    assert_true(remaining_time_after_search(&o) < 60);
}

RUN_TESTS(TEST(another_search_is_expected_once), TEST(known_costs_are_not_expected_to_change),
          TEST(a_runtime_that_measures_is_not_slow))
