// Costs in their database: what is kept, merged, doubted and tried, verdicts beside them, and times within models.
#include "backends/costs/cost_database.h"
#include "backends/costs/in_model.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/verdicts.h"
#include "core/system/file.h"
#include "core/text/log.h"
#include "tests/backends/graph_on_fake.h"
#include "tests/support/temporary_path.h"
#include <sys/wait.h>

static struct cost_database *open_costs(const char *path, const char *device)
{
    struct cost_database *costs;
    OK(cost_database_open(&costs, path, device, &error));
    return costs;
}

static void write_and_close(struct cost_database *costs)
{
    assert_true(cost_database_write(costs, &(struct error){0}));
    cost_database_free(costs);
}

TEST(databases_survive_and_merge)
{
    TEMPORARY_PATH(path);
    struct error error = {0};
    struct step_cost cost;
    struct cost_database *a = open_costs(path, "one"), *b = open_costs(path, "two");
    cost_database_add(a, "x", &(struct step_cost){.seconds = 1.5e-3, .spread = 0.25});
    cost_database_add(b, "x", &(struct step_cost){.seconds = 2.5e-3, .spread = 0.125});
    cost_database_add(b, "say \"y\"", &(struct step_cost){.seconds = 1});
    write_and_close(a);
    write_and_close(b);
    a = open_costs(path, "one");
    assert_int_equal(cost_database_count(a), 3);
    assert_true(cost_database_find(a, "x", &cost));
    assert_true(cost.seconds == 1.5e-3 && cost.spread == 0.25);
    cost_database_add(a, "w inexact", &(struct step_cost){.seconds = 1, .error = 1.26e-6, .choice = "winograd"});
    cost_database_add(a, "z", &(struct step_cost){.seconds = 1.0 / 3, .spread = 1.0 / 3});
    assert_true(cost_database_find(a, "z", &cost));
    assert_true(cost.seconds == 0.33333 && cost.spread == 0.333);   // as it would be read again
    assert_false(cost_database_find(a, "say \"y\"", &cost));
    write_and_close(a);
    a = open_costs(path, "one");
    assert_true(cost_database_find(a, "w inexact", &cost));
    assert_true(cost.error == 1.3e-6 && strcmp(cost.choice, "winograd") == 0);
    cost_database_free(a);
    assert_true(file_write_text(path, "(costs 1 \"d\")\n(x 1 2)\n", 22, &error));
    assert_false(cost_database_open(&a, path, "one", &error));
    assert_int_equal(error.line, 2);
}

TEST(verdicts_are_rows)
{
    TEMPORARY_PATH(path);
    char row[256];
    struct verdict v;
    struct cost_database *costs = open_costs(path, "one");
    assert_false(verdict_find(costs, 7, &v));
    verdict_keep(costs, 7, &(struct verdict){~(uint64_t)0, 3, {1.0460001, 1.031, 1.06, 7}, 0.075, 0.01, 0});
    verdict_keep(costs, 8, &(struct verdict){.original = 5, .seconds = 1});
    assert_true(verdict_find(costs, 7, &v) && v.gain.ratio == 1.046);   // as it would be read again
    write_and_close(costs);
    costs = open_costs(path, "one");
    assert_true(verdict_find(costs, 7, &v) && v.original == ~(uint64_t)0 && v.result == 3 && v.run > 0);
    assert_true(v.gain.ratio == 1.046 && v.gain.low == 1.031 && v.gain.high == 1.06 && v.gain.n_loads == 7);
    assert_true(verdict_find(costs, 8, &v) && v.original == 5 && v.result == 0 && v.gain.n_loads == 0);
    for (size_t i = 0; i < cost_database_count(costs); i++)
        assert_true(verdict_has(cost_database_text(costs, i)));
    cost_database_free(costs);
    static const char some[] = "0000000000000003", none[] = "0000000000000000";
    static const struct {
        const char *result, *gain;
        bool is_sound;
    } rows[] = {
        {some, " 1 1 1 7", true},
        {none, " 0 0 0 0", true},
        {some, "", false},
        {some, " 1 2 3 7", false},
        {some, " 1 0 3 7", false},
        {some, " 1 nan 3 7", false},
        {some, " 1 1 1 0", false},
        {some, " 1 1 inf 7", false},
        {some, " 1 1 1 -7", false},
        {some, " 1 1 1 7 7", false},
        {some, " 1", false},
        {some, " 1 1 1", false},
        {some, " 1 1 1 7x", false},
        {some, " 1 1 1 9999", false},
        {none, "", false},
        {none, " 1 1 1 7", false},
        {"3", " 1 1 1 7", false},
        {"0", "", false},
        {"", "", false},
        {"-3", " 1 1 1 7", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int n = snprintf(row, sizeof row,
                         "(costs 4 \"one\")\n(\"contest 0000000000000007\" 1 0 \"0000000000000005 %s%s\")\n",
                         rows[i].result, rows[i].gain);
        OK(file_write_text(path, row, (size_t)n, &error) && cost_database_open(&costs, path, "one", &error));
        assert_int_equal(verdict_find(costs, 7, &v), rows[i].is_sound);
        cost_database_free(costs);
    }
}

static void add_and_write(const char *path, const char *text, struct step_cost cost)
{
    struct cost_database *costs = open_costs(path, "one");
    cost_database_add(costs, text, &cost);
    write_and_close(costs);
}

static void expect_cost(const char *path, const char *text, const struct step_cost *wanted)
{
    struct step_cost cost;
    struct cost_database *costs = open_costs(path, "one");
    assert_true(cost_database_find(costs, text, &cost) && cost.seconds == wanted->seconds && cost.is_old);
    assert_true(cost.is_doubtful == wanted->is_doubtful && cost.is_in_model == wanted->is_in_model);
    cost_database_free(costs);
}

// A cost measured on a busy machine is kept as doubtful, and takes the place only of what is longer.
TEST(doubtful_costs_are_kept_as_such)
{
    static const struct {
        struct step_cost measured, kept;
    } steps[] = {{{3, .is_doubtful = true}, {3, .is_doubtful = true}},
                 {{4, .is_doubtful = true}, {3, .is_doubtful = true}},
                 {{2, .is_doubtful = true}, {2, .is_doubtful = true}},
                 {{2.5}, {2.5}},
                 {{2.75, .is_doubtful = true}, {2.5}},
                 {{2.25, .is_doubtful = true}, {2.25, .is_doubtful = true}},
                 {{3.5, .is_in_model = true, .choice = "c"}, {3.5, .is_in_model = true}}};
    TEMPORARY_PATH(path);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        add_and_write(path, "x", steps[i].measured);
        expect_cost(path, "x", &steps[i].kept);
    }
}

// Two runs beside other programs that come to the same were next to undisturbed, unless one measured something else.
TEST(doubtful_costs_that_agree_are_sound)
{
    static const struct {
        struct step_cost measured, kept;
    } steps[] = {{{2.05, .is_doubtful = true}, {2}},
                 {{1.95, .is_doubtful = true}, {1.95}},
                 {{2.2, .is_doubtful = true}, {2, .is_doubtful = true}},
                 {{2.05, .is_doubtful = true, .is_hurried = true}, {2, .is_doubtful = true}},
                 {{2.05, .is_doubtful = true, .is_cut = true}, {2, .is_doubtful = true}},
                 {{2.05, .is_doubtful = true, .is_in_model = true}, {2, .is_doubtful = true}}};
    static const char file[] = "(costs 4 \"one\")\n(\"x\" 2 0.1 (run 7) doubtful)\n";
    TEMPORARY_PATH(path);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_true(file_write_text(path, file, strlen(file), &(struct error){0}));
        add_and_write(path, "x", steps[i].measured);
        expect_cost(path, "x", &steps[i].kept);
    }
}

// --- within models ---------------------------------------------------------------------------------------------------

static void plan_relu(struct fixture *f)
{
    set_up(f, PLAIN, "x = f32 4 4; y = relu x");
    struct plan_request request = backend_plan_request(f->fake, &f->g, NULL, &f->arena);
    OK(plan_make(&f->plan, &request, &error));
}

static double noted_in_model(struct fixture *f, double seconds)
{
    LOCAL_LIST(cost_corrections, corrections);
    struct step_cost cost = {0};
    const struct step *step = &f->plan.steps.items[0];
    backend_note_in_model(f->fake, &f->plan, step, seconds, 0.01, false);
    backend_adopt_in_model(f->fake, &corrections);
    assert_true(backend_recall_cost(f->fake, &f->plan, step, &cost) && cost.is_in_model);
    return cost.seconds;
}

// The time that a step takes longer in another load of the models was added by others, and leads to no other search.
TEST(of_two_times_within_models_the_shorter_stays)
{
    struct fixture f FREED_BY(tear_down);
    plan_relu(&f);
    assert_true(noted_in_model(&f, 2e-6) == 2e-6);
    assert_true(noted_in_model(&f, 3e-6) == 2e-6);
    assert_true(noted_in_model(&f, 1e-6) == 1e-6);
}

// Costs that change by what runs scatter would send each search to steps that nobody has measured.
TEST(costs_of_another_run_stay_where_they_agree)
{
    TEMPORARY_PATH(path);
    struct fixture f FREED_BY(tear_down);
    plan_relu(&f);
    struct step_cost cost;
    struct step_key key FREED_BY(step_key_free) = step_key_of(f.fake, &f.plan, &f.plan.steps.items[0], PRECISION_EXACT);
    struct cost_database *costs = open_costs(path, f.fake->device);
    cost_database_add(costs, key.text.chars, &(struct step_cost){.seconds = 2e-6, .is_in_model = true});
    write_and_close(costs);
    cost_database_free(f.fake->costs);
    f.fake->costs = open_costs(path, f.fake->device);
    assert_true(noted_in_model(&f, 2.05e-6) == 2e-6);   // of another run
    assert_true(noted_in_model(&f, 1.95e-6) == 2e-6);
    assert_true(noted_in_model(&f, 3e-6) == 3e-6);
    backend_keep_former_costs(f.fake);
    assert_true(backend_recall_cost(f.fake, &f.plan, &f.plan.steps.items[0], &cost));
    assert_true(cost.seconds == 2e-6 && cost.is_in_model);   // no model is run for it again
}

// --- costs of others -------------------------------------------------------------------------------------------------

// Somebody else has repaired a cost since it was read: that stays.
TEST(what_was_only_read_replaces_nothing)
{
    TEMPORARY_PATH(path);
    add_and_write(path, "x", (struct step_cost){.seconds = 3});
    struct cost_database *costs = open_costs(path, "one");
    add_and_write(path, "x", (struct step_cost){.seconds = 1});
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 1});
    write_and_close(costs);
    expect_cost(path, "x", &(struct step_cost){1});
}

#define TRIED 8

// Names that tests try: "a", "b", ...
static const char *name_of(int i)
{
    static char name[2];
    name[0] = (char)('a' + i);
    return name;
}

static void write_run(const char *path, const double *kept)
{
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n");
    for (int i = 0; i < TRIED; i++)
        text_printf(&text, "(\"%s\" %g 0.1 (run 7))\n", name_of(i), kept[i % 4]);
    text_add(&text, "(\"rest\" 1e-3 0.1 (run 7))\n(\"other\" 1e-3 0.1 (run 8))\n");
    assert_true(file_write_text(path, text.chars, text.count, &(struct error){0}));
}

// Costs of a run are measured again, and take 1 ms. What else it left is believed then, now and in the file, or not, and
// that is told in one line.
static void try_run(const char *path, const double *kept, bool is_doubtful, bool is_refuted, double factor)
{
    struct step_cost cost, now = {.seconds = 1e-3, .is_doubtful = is_doubtful};
    char *told = NULL;
    size_t size;
    struct log log = {open_memstream(&told, &size), "test", LOG_WARNING};
    write_run(path, kept);
    struct cost_database *costs = open_costs(path, "one");
    for (int i = 0; i < TRIED; i++)
        if (cost_database_find(costs, name_of(i), &cost)) {
            assert_true(i >= 5 || cost_database_is_on_trial(costs, name_of(i), &cost));
            cost_database_try(costs, name_of(i), &now, &log);
            assert_true(cost_database_find(costs, name_of(i), &cost));
            assert_false(cost_database_is_on_trial(costs, name_of(i), &cost));
        }
    fclose(log.out);
    assert_true((size > 0) == (is_refuted || factor != 1));
    const char *end = is_refuted ? " measured again\n" : " divided by that\n";
    assert_true(size == 0 || strcmp(told + size - strlen(end), end) == 0);
    free(told);
    assert_true(cost_database_find(costs, "rest", &cost) == !is_refuted);
    assert_true(is_refuted || fabs(cost.seconds * factor - 1e-3) < 1e-7);
    assert_true(cost_database_find(costs, "other", &cost) && cost_database_is_on_trial(costs, "other", &cost));
    cost_database_add(costs, "new", &(struct step_cost){.seconds = 1});
    write_and_close(costs);
    costs = open_costs(path, "one");
    assert_true(cost_database_find(costs, "rest", &cost) == !is_refuted && cost_database_find(costs, "other", &cost));
    assert_true(cost.seconds == 1e-3 && cost.run == 8);
    cost_database_free(costs);
}

// The costs that another run left beside other programs are refuted by several of its costs, if they are most of those
// tried; and none is too short by a measurement that is itself disturbed.
TEST(runs_are_tried)
{
    TEMPORARY_PATH(path);
    try_run(path, (const double[]){1.1e-3, 0.9e-3, 1e-3, 1.2e-3}, false, false, 1);
    try_run(path, (const double[]){1e-3, 1e-3, 4e-3, 1e-3}, false, false, 1);   // some are replaced
    try_run(path, (const double[]){1e-3, 2e-3, 2e-3, 1e-3}, false, false, 1);
    try_run(path, (const double[]){3e-3, 2e-3, 1e-3, 2e-3}, false, true, 1);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 2e-3, 2e-3}, false, true, 1);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 0.5e-3, 0.5e-3}, true, false, 1);
    try_run(path, (const double[]){2e-3, 2e-3, 2e-3, 2e-3}, true, true, 1);
}

// Costs that are all wrong by about one factor were measured on a machine of another speed.
TEST(runs_of_another_speed_are_adjusted)
{
    TEMPORARY_PATH(path);
    try_run(path, (const double[]){1.6e-3, 1.9e-3, 2e-3, 1.8e-3}, false, false, 1.85);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 0.5e-3, 0.5e-3}, false, false, 0.5);
    try_run(path, (const double[]){1.6e-3, 1.9e-3, 2.2e-3, 2.6e-3}, false, true, 1);
}

// The beginning of a program shows another speed, and what comes then shows that of the run: this is believed
// after all, and what has replaced its costs is doubtful, so that these come back from the file. In between five are not
// enough for a speed.
TEST(later_costs_overrule_the_first)
{
    TEMPORARY_PATH(path);
    struct log log = {stderr, "test", LOG_QUIET};
    struct step_cost cost;
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n");
    for (int i = 0; i < 2 * TRIED; i++)
        text_printf(&text, "(\"%s\" 1e-3 0.1 (run 7))\n", name_of(i));
    text_add(&text, "(\"rest\" 1e-3 0.1 (run 7))\n");
    assert_true(file_write_text(path, text.chars, text.count, &(struct error){0}));
    struct cost_database *costs = open_costs(path, "one");
    for (int i = 0; i < 2 * TRIED; i++) {
        double now = i >= TRIED ? 1e-3 : 2e-3;
        assert_true(cost_database_find(costs, "rest", &cost));
        assert_true((i != 5 || cost.seconds == 1e-3) && (i != TRIED || cost.seconds == 2e-3));
        cost_database_try(costs, name_of(i), &(struct step_cost){.seconds = now}, &log);
    }
    assert_true(cost_database_find(costs, "a", &cost) && cost.seconds == 2e-3 && cost.is_doubtful);
    assert_true(cost_database_find(costs, name_of(TRIED), &cost) && cost.seconds == 1e-3 && !cost.is_doubtful);
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1e-3);
    write_and_close(costs);
    costs = open_costs(path, "one");
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1e-3 && cost.run == 7);
    assert_true(cost_database_find(costs, "a", &cost) && cost.seconds == 1e-3 && !cost.is_doubtful);
    cost_database_free(costs);
}

static struct cost_database *open_run(const char *path, const char *more)
{
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n");
    for (int i = 0; i < 2 * TRIED; i++)
        text_printf(&text, "(\"%s\" 1e-3 0.1 (run 7))\n", name_of(i));
    text_add(&text, more);
    assert_true(file_write_text(path, text.chars, text.count, &(struct error){0}));
    return open_costs(path, "one");
}

// A verdict is written, and so is that it is withdrawn, whatever else was written before.
TEST(verdicts_on_runs_are_written)
{
    TEMPORARY_PATH(path);
    struct log log = {stderr, "test", LOG_QUIET};
    for (int n = TRIED; n <= 2 * TRIED; n += TRIED) {
        struct cost_database *costs = open_run(path, "(\"rest\" 1e-3 0.1 (run 7))\n");
        for (int i = 0; i < n; i++) {
            assert_true(cost_database_write(costs, &(struct error){0}));
            cost_database_try(costs, name_of(i), &(struct step_cost){.seconds = i < TRIED ? 2e-3 : 1e-3}, &log);
        }
        write_and_close(costs);
        expect_cost(path, "rest", &(struct step_cost){n > TRIED ? 1e-3 : 2e-3});
    }
}

// Costs of a run of another speed are doubtful, longer, or confirmed, as they are read, not as they were kept.
TEST(doubtful_costs_are_compared_at_one_speed)
{
    static const struct {
        double now, then;
    } steps[] = {{1e-3, 1e-3}, {1.5e-3, 1.5e-3}, {2.5e-3, 2e-3}};
    TEMPORARY_PATH(path);
    struct log log = {stderr, "test", LOG_QUIET};
    struct step_cost cost;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct cost_database *costs = open_run(path, "(\"rest\" 1e-3 0.1 (run 7) doubtful)\n");
        for (int k = 0; k < TRIED; k++)
            cost_database_try(costs, name_of(k), &(struct step_cost){.seconds = 2e-3}, &log);
        cost_database_try(costs, "rest", &(struct step_cost){.seconds = steps[i].now, .is_doubtful = true}, &log);
        assert_true(cost_database_find(costs, "rest", &cost));
        assert_true(cost.is_doubtful && cost.seconds == steps[i].then);
        cost_database_free(costs);
    }
}

// A speed at first, then none: what was confirmed while costs were divided is not what it was before.
TEST(confirmed_costs_survive_a_refutation)
{
    TEMPORARY_PATH(path);
    struct log log = {stderr, "test", LOG_QUIET};
    struct step_cost cost;
    struct cost_database *costs = open_run(path, "(\"rest\" 1e-3 0.1 (run 7))\n");
    for (int i = 0; i < TRIED; i++)
        cost_database_try(costs, name_of(i), &(struct step_cost){.seconds = 2e-3}, &log);
    cost_database_try(costs, name_of(TRIED), &(struct step_cost){.seconds = 2.1e-3}, &log);
    for (int i = TRIED + 1; i < 2 * TRIED; i++)
        cost_database_try(costs, name_of(i), &(struct step_cost){.seconds = i % 2 ? 4e-3 : 8e-3}, &log);
    assert_false(cost_database_find(costs, "rest", &cost));
    write_and_close(costs);
    expect_cost(path, name_of(TRIED - 1), &(struct step_cost){2e-3});
    expect_cost(path, name_of(TRIED), &(struct step_cost){2e-3});
}

// A run that stands is not tried for ever.
TEST(enough_costs_of_a_run_are_tried)
{
    TEMPORARY_PATH(path);
    struct log log = {stderr, "test", LOG_QUIET};
    struct step_cost cost;
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n");
    for (int i = 0; i < 400; i++)
        text_printf(&text, "(\"%d\" 1e-3 0.1 (run 7))\n", i);
    assert_true(file_write_text(path, text.chars, text.count, &(struct error){0}));
    struct cost_database *costs = open_costs(path, "one");
    int n = 0;
    for (int i = 0; i < 400; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_true(cost_database_find(costs, name, &cost));
        if (cost_database_is_on_trial(costs, name, &cost)) {
            n++;
            cost_database_try(costs, name, &(struct step_cost){.seconds = 1e-3}, &log);
        }
    }
    assert_int_equal(n, 16);
    cost_database_free(costs);
}

static void expect_divided(struct cost_database *costs, uint32_t run, bool is_read)
{
    struct step_cost cost;
    struct verdict v;
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1e-3 && cost.run == (is_read ? run : 7));
    assert_true(!cost.is_doubtful && cost.is_old && strcmp(cost.choice, "way") == 0);
    assert_true(cost_database_find(costs, "agreed", &cost) && cost.seconds == 0.8e-3);
    assert_true(cost_database_find(costs, "doubtful", &cost) && cost.seconds == 1.5e-3 && cost.is_doubtful);
    assert_true(cost_database_is_on_trial(costs, "doubtful", &cost));
    assert_true(cost_database_find(costs, "failed", &cost) && cost.seconds == 1e5 && cost.run == 7);
    assert_true(cost_database_find(costs, "short", &cost) && cost.seconds == 1e-9);
    assert_true(verdict_find(costs, 7, &v) && v.seconds == 2e-3 && v.run == 7);
    for (int i = 0; i < TRIED; i++)
        assert_true(cost_database_find(costs, name_of(i), &cost) && cost.seconds == 1e-3);
}

// In memory and in the file all that was of another speed is of this one then, and is of the run that found it, however
// often it is written.
TEST(files_hold_costs_of_one_speed)
{
    TEMPORARY_PATH(path);
    struct step_cost cost, now = {.seconds = 1e-3};
    struct log log = {stderr, "test", LOG_QUIET};
    struct error error = {0};
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n(\"agreed\" 1.152e-3 0.1 (run 7))\n"
                    "(\"contest 0000000000000007\" 2e-3 0 \"0000000000000005 0000000000000000 0 0 0 0\" (run 7))\n"
                    "(\"doubtful\" 2.16e-3 0.1 (run 7) doubtful)\n(\"failed\" 1e5 0.1 (run 7))\n"
                    "(\"rest\" 1.44e-3 0.1 \"way\" (run 7))\n(\"short\" 1e-9 0.1 (run 7))\n");
    for (int i = 0; i < TRIED; i++)
        text_printf(&text, "(\"%s\" 1.44e-3 0.1 (run 7))\n", name_of(i));
    text_add(&text, "(costs 4 \"two\")\n(\"rest\" 1.6e-3 0.1 (run 7))\n");
    assert_true(file_write_text(path, text.chars, text.count, &error));
    struct cost_database *costs = open_costs(path, "one");
    cost_database_try(costs, "agreed", &(struct step_cost){.seconds = 0.9e-3}, &log);
    for (int i = 0; i < TRIED; i++)
        cost_database_try(costs, name_of(i), &now, &log);
    assert_true(cost_database_find(costs, "a", &cost));
    uint32_t run = cost.run;
    expect_divided(costs, run, false);
    assert_true(cost_database_write(costs, &error));
    expect_divided(costs, run, false);
    cost_database_add(costs, "new", &now);
    write_and_close(costs);
    costs = open_costs(path, "one");
    expect_divided(costs, run, true);
    cost_database_free(costs);
    costs = open_costs(path, "two");
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1.6e-3 && cost.run == 7);
    cost_database_free(costs);
}

// Files without marks are read; those of a format to come are refused.
TEST(older_formats_are_read)
{
    static const char older[] = "(costs 1 \"one\")\n(\"x\" 1e-3 0.1)\n";
    static const char newer[] = "(costs 5 \"one\")\n", marked[] = "(costs 2 \"one\")\n(\"x\" 1e-3 0.1 nonsense)\n";
    TEMPORARY_PATH(path);
    struct error error = {0};
    struct cost_database *costs;
    assert_true(file_write_text(path, older, sizeof older - 1, &error));
    expect_cost(path, "x", &(struct step_cost){1e-3});
    assert_true(file_write_text(path, newer, sizeof newer - 1, &error));
    assert_false(cost_database_open(&costs, path, "one", &error));
    assert_non_null(strstr(error.message, "format 5"));
    assert_true(file_write_text(path, marked, sizeof marked - 1, &error));
    assert_false(cost_database_open(&costs, path, "one", &error));
}

static void add_one_and_write(const char *path, int writer, int round)
{
    char text[32];
    struct error error = {0};
    struct cost_database *costs;
    snprintf(text, sizeof text, "step %d of %d", round, writer);
    if (!cost_database_open(&costs, path, "one", &error))
        _exit(1);
    cost_database_add(costs, text, &(struct step_cost){.seconds = 1e-3});
    if (!cost_database_write(costs, &error))
        _exit(1);
    cost_database_free(costs);
}

TEST(writers_at_the_same_time_lose_nothing)
{
    enum { WRITERS = 6, ROUNDS = 20 };
    TEMPORARY_PATH(path);
    for (int writer = 0; writer < WRITERS; writer++)
        if (fork() == 0) {
            for (int round = 0; round < ROUNDS; round++)
                add_one_and_write(path, writer, round);
            _exit(0);
        }
    for (int writer = 0; writer < WRITERS; writer++) {
        int status;
        assert_true(wait(&status) > 0 && status == 0);
    }
    struct cost_database *costs = open_costs(path, "one");
    assert_int_equal(cost_database_count(costs), WRITERS * ROUNDS);
    cost_database_free(costs);
}

static void write_costs_with(const char *path, const char *entry)
{
    char text[96];
    int n = snprintf(text, sizeof text, "(costs 1 \"one\")\n(\"w\" 1e-3 0.1)\n%s\n", entry);
    assert_true(file_write_text(path, text, (size_t)n, &(struct error){0}));
}

// Two entries, of which the second may be dropped.
static void expect_entries(const char *path, const char *entry, size_t n, const char *warning)
{
    char said[256] = "";
    FILE *out = fmemopen(said, sizeof said, "w");
    struct log log = {out, "test", LOG_WARNING};
    write_costs_with(path, entry);
    struct cost_database *costs = open_costs(path, "one");
    assert_int_equal(cost_database_count(costs), n);
    cost_database_warn(costs, &log);
    cost_database_free(costs);
    fclose(out);
    assert_true(*warning ? strstr(said, warning) != NULL : *said == '\0');
}

// Neither is believed, nor is one written that would not be read again; a file that has become malformed is left.
TEST(implausible_costs_are_dropped)
{
    TEMPORARY_PATH(path);
    struct error error = {0};
    struct step_cost cost;
    struct cost_database *costs;
    expect_entries(path, "(\"x\" 0.0 0.1)", 1, ":3: 0 seconds are no time of a step; 1 entry is dropped");
    expect_entries(path, "(\"x\" 0 0.1)\n(\"y\" -1e-3 0.1)", 1, ":3: 0 seconds are no time of a step; 2 entries are");
    expect_entries(path, "(\"x\" 1e-320 0.1)", 1, "1 entry is dropped, to be measured again");
    expect_entries(path, "(\"x\" 9.9e8 0.1)", 1, "1 entry is dropped, to be measured again");
    expect_entries(path, "(costs 1 \"two\")\n(\"x\" 0 0.1)", 1, "");
    expect_entries(path, "(\"x\" 1e-9 0.1)", 2, "");
    expect_entries(path, "(\"x\" 1e5 0.1)", 2, "");
    expect_entries(path, "(\"x\" nan 0.1)", 1, "1 entry is dropped, to be measured again");
    write_costs_with(path, "(\"x\" soon 0.1)");
    assert_false(cost_database_open(&costs, path, "one", &error));
    assert_int_equal(error.line, 3);
    write_costs_with(path, "(\"x\" 0 0.1)");
    costs = open_costs(path, "one");
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 0});
    assert_true(cost_database_find(costs, "y", &cost) && cost.is_doubtful);
    cost_database_add(costs, "z", &(struct step_cost){.seconds = 1});
    write_and_close(costs);
    costs = open_costs(path, "one");
    assert_int_equal(cost_database_count(costs), 2);   // w and z
    assert_true(file_write_text(path, "(", 1, &error));
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 1});
    assert_false(cost_database_write(costs, &error));
    cost_database_free(costs);
}
