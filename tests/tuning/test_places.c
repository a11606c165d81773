// Choices that run in the model in place of each other, told what they take there.
#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "tests/backends/processor.h"
#include "tests/support/parse_graph.h"
#include "tuning/places.h"

// The same step twice, and another one.
#define NETWORK                                                                                                        \
    "(graph (let x (input 0) (f32 96 128)) (let u (weight 0) (f32 128 128)) (let v (weight 1) (f32 128 64))"           \
    " (let a (matmul x u)) (let b (matmul a u)) (let c (matmul b v)) (output c))"
#define N_TRIALS 3

// Some schedules of its first exact space.
static void keep_trials(struct backend *b, const struct plan *plan, const struct step *step,
                        char ret_choices[N_TRIALS][CHOICE_SIZE])
{
    static const double seconds[N_TRIALS] = {1.01e-3, 1.05e-3, 2e-3};
    LOCAL_LIST(schedule_spaces, spaces);
    b->methods->list_spaces(b, plan, step, &spaces);
    const struct schedule_space *space = vec_find(&spaces, x, x->precision == PRECISION_EXACT);
    assert_non_null(space);
    int n = 0;
    for (int64_t point = 0; point < 1000 && n < N_TRIALS; point++) {
        int64_t places[SCHEDULE_AXES], rest = point;
        struct schedule_features ignored;
        for (int axis = 0; axis < space->n_axes; rest /= space->axes[axis++].n)
            places[axis] = rest % space->axes[axis].n;
        schedule_space_print(space, places, ret_choices[n]);
        if (rest == 0 && b->methods->describe_choice(b, plan, step, ret_choices[n], &ignored)) {
            backend_keep_trial(b, plan, step, ret_choices[n], &(struct step_cost){.seconds = seconds[n]});
            n++;
        }
    }
    assert_int_equal(n, N_TRIALS);
}

static void say(struct backend *b, const struct plan *plan, const struct step *step, const char *choice)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    struct step_cost cost = {.seconds = 1e-3};
    snprintf(cost.choice, sizeof cost.choice, "%s", choice);
    cost_database_add(b->costs, key.text.chars, &cost);
}

static void say_library(struct backend *b, const struct plan *plan)
{
    vec_each(&plan->steps, step)
        say(b, plan, step, "");
}

// Three runs of each, one of which others disturb.
static void run_round(struct places *p, const struct plan *plan, double now, double next)
{
    LOCAL_ARRAY(double, seconds, plan->steps.count);
    for (int run = 0; run < 6; run++) {
        for (size_t i = 0; i < plan->steps.count; i++)
            seconds[i] = (run % 2 ? next : now) * (run < 2 ? 3 : 1);
        places_tell(p, plan, run % 2, seconds);
    }
    places_judge(p);
}

TEST(choices_that_are_faster_in_the_model_are_adopted)
{
    static const struct {
        double seconds[2];   // by the best trial, and by the second best, where the library takes 1
        int kept;            // -1: the library
        double last;         // by the faster one in the last round, where that is another time
    } cases[] = {{{0.9, 0.8}, 1, 0}, {{0.8, 0.9}, 0, 0},    {{1.1, 1.2}, -1, 0}, {{0.999, 1}, -1, 0},
                 {{1.1, 0.7}, 1, 0}, {{0.9, 0.8}, 1, 0.95}, {{0.9, 1}, -1, 1.01}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ARENA(arena);
        GRAPH(g, &arena, NETWORK);
        CPU(b, .threads = 1);
        PLAN(plan, b, &g, NULL, &arena);
        char choices[N_TRIALS][CHOICE_SIZE];
        const struct step *step = &plan.steps.items[0];
        say_library(b, &plan);
        keep_trials(b, &plan, step, choices);
        struct places *p = places_new(b, &g, LAYOUTS_STANDARD, NULL);
        assert_non_null(p);
        assert_int_equal(places_count(p), 1);   // of the other step no trial is known
        double best = 1;
        for (int round = 0; round < 2; round++) {
            LOCAL_LIST(step_choices, now);
            LOCAL_LIST(step_choices, next);
            assert_true(places_list(p, false, &arena, &now, &next));
            assert_int_equal(now.count, 1);
            assert_string_equal(next.items[0].choice, choices[round]);
            run_round(p, &plan, best, cases[i].seconds[round]);
            best = cases[i].seconds[round] < 0.995 * best ? cases[i].seconds[round] : best;
        }
        LOCAL_LIST(step_choices, now);
        LOCAL_LIST(step_choices, next);
        assert_false(places_list(p, false, &arena, &now, &next));   // the third trial is too far behind
        vec_clear(&now);
        vec_clear(&next);
        assert_int_equal(places_list(p, true, &arena, &now, &next), best < 1);
        run_round(p, &plan, cases[i].last > 0 ? cases[i].last : best, 1);
        best = cases[i].kept < 0 ? 1 : cases[i].last > 0 ? cases[i].last : best;
        struct places_outcome outcome = places_adopt(p);
        struct step_cost found;
        assert_int_equal(outcome.n_changed, cases[i].kept >= 0);
        assert_true(backend_recall_cost(b, &plan, step, &found));
        assert_string_equal(found.choice, cases[i].kept >= 0 ? choices[cases[i].kept] : "");
        assert_true(fabs(found.seconds / (1e-3 * best) - 1) < 1e-9);
        if (outcome.n_changed)   // both places of the step
            assert_true(fabs(outcome.before / 2 - 1) < 1e-9 && fabs(outcome.now / (2 * best) - 1) < 1e-9);
        places_free(p);
    }
}

// Choices that tuning took from a step are tried, too; and without anything to choose from there are no places.
TEST(former_choices_run_in_the_model)
{
    ARENA(arena);
    GRAPH(g, &arena, NETWORK);
    CPU(b, .threads = 1);
    PLAN(plan, b, &g, NULL, &arena);
    char choices[N_TRIALS][CHOICE_SIZE];
    const struct step *step = &plan.steps.items[0];
    say_library(b, &plan);
    assert_null(places_new(b, &g, LAYOUTS_STANDARD, NULL));
    struct former_choices *former = former_choices_note(b);
    keep_trials(b, &plan, step, choices);
    say(b, &plan, step, choices[0]);
    backend_forget_costs(b);
    struct places *p = places_new(b, &g, LAYOUTS_STANDARD, former);
    assert_non_null(p);
    LOCAL_LIST(step_choices, now);
    LOCAL_LIST(step_choices, next);
    assert_true(places_list(p, false, &arena, &now, &next));
    assert_string_equal(now.items[0].choice, choices[0]);
    assert_string_equal(next.items[0].choice, "");
    places_free(p);
    former_choices_free(former);
}
