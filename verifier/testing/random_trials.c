// Both sides are computed at random instances; one at which they differ is made small and told.
#include "verifier/testing/random_trials.h"

#include "verifier/testing/comparison.h"
#include "verifier/testing/shrink.h"

static bool run_instance(void *context, struct instance *in, enum wanted_sides wanted)
{
    struct trials *t = context;
    struct difference difference;
    enum comparison c = instance_compare_numbers(in, t->search.instances - 1, &difference);
    t->overflows += c == COMPARISON_EQUAL && difference.is_number_on_one_side;
    if (c == COMPARISON_EQUAL || c == COMPARISON_BOTH_ILL_TYPED)
        return true;
    instance_shrink(in, &difference, wanted);
    counterexample_note(t->counterexample, in, &difference);
    return false;
}

bool trials_run(struct trials *t, const struct equation *eq, struct counterexample *ret_counterexample)
{
    t->overflows = 0;
    t->counterexample = ret_counterexample;
    t->search.visit = run_instance;
    t->search.context = t;
    return random_instances_visit(&t->search, eq);
}

#define NEAR(size)                                                                                                     \
    {                                                                                                                  \
        .seed = 1, .largest = (size), .wanted = 12, .attempts = 60, .step_limit = 300000                               \
    }
static const struct random_search near_ones = NEAR(4), wide_ones = NEAR(13);
static const struct random_search few_far_ones = {
    .seed = 1, .largest = 13, .wanted = 6, .attempts = 40, .step_limit = 50000, .is_far = true};
static const struct random_search many_far_ones = {
    .seed = 1, .largest = 13, .wanted = 120, .attempts = 1200, .step_limit = 300000, .is_far = true};

#define MOST_SEARCHES 3
bool trials_run_usual(const struct equation *eq, enum trial_effort effort, uint32_t *instances,
                      struct counterexample *ret_counterexample)
{
    static const struct random_search *const searches[][MOST_SEARCHES] = {
        [TRIALS_OF_PROVED] = {&few_far_ones},
        [TRIALS_OF_PROPERTY] = {&near_ones, &wide_ones, &few_far_ones},
        [TRIALS_OF_UNPROVED] = {&near_ones, &wide_ones, &many_far_ones}};
    bool is_equal = true;
    for (int i = 0; i < MOST_SEARCHES && searches[effort][i] && is_equal; i++) {
        struct trials t = {.search = *searches[effort][i]};
        is_equal = trials_run(&t, eq, ret_counterexample);
        *instances += t.search.instances;
    }
    return is_equal;
}
