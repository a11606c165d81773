// How long the rest of a job is expected to take, from phase to phase.
#include "core/system/clock.h"
#include "optimizer/run/remaining_time.h"
#include "optimizer/run/time_limit.h"
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

// The seconds shown before it is known whether costs differ are not less than those shown then.
TEST(another_search_is_expected_once)
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

TEST(known_costs_are_not_expected_to_change)
{
    struct phases phases = {.seconds = {[PHASE_SEARCHING] = 60}, .processor_seconds = {[PHASE_SEARCHING] = 60}};
    struct remaining_time cold = time_after(&phases, 1), warm = cold;
    warm.has_measured = false;
    assert_true(remaining_time_after_calibration(&warm) < remaining_time_after_calibration(&cold) - 30);
    assert_true(remaining_time_repeats(&cold, false) == 0.5 && remaining_time_repeats(&warm, false) == 0);
}

// Nobody disturbs: another process works.
TEST(a_runtime_that_measures_is_not_slow)
{
    struct phases phases = {.seconds = {[PHASE_SEARCHING] = 60}, .processor_seconds = {[PHASE_SEARCHING] = 0.1}};
    struct remaining_time o = time_after(&phases, 0);
    o.is_calibrated = false;
    o.processors_measuring = 59.9;
    assert_true(remaining_time_after_search(&o) < 60);
}

static bool wants_end(void *context)
{
    return (*(int *)context)-- == 0;
}

// A search of which the time was over left the contest interrupted, however much time that had.
TEST(timing_has_time_of_its_own)
{
    struct phases phases = {.now = PHASE_LOADING};
    struct remaining_time rest = {.of_timing = 1000, .of_run = 0.1, .n_contenders = 4, .phases = &phases};
    struct time_limit limit;
    int questions = 2;   // until the user wants an end, once
    const struct interrupt_listener user = {wants_end, &questions};
    interrupt_listen(&user);
    time_limit_begin(&limit, 1000, clock_seconds() - 800, &rest);
    assert_true(interrupt_requested() && time_limit_is_over(&limit) && time_limit_ends(&limit));
    time_limit_enter(&limit, TIME_TO_TIME);
    assert_false(interrupt_requested() || time_limit_is_over(&limit));
    time_limit_enter(&limit, TIME_TO_TIME);
    assert_true(interrupt_requested());
    time_limit_enter(&limit, TIME_TO_TIME);
    assert_true(interrupt_requested() && !time_limit_is_over(&limit) && !time_limit_ends(&limit));
    time_limit_end(&limit);
    interrupt_listen(NULL);
}
