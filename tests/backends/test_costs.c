// Costs in their database: what is kept, merged, doubted and tried, verdicts beside them, and times within models.
#include "backends/costs/cost_database.h"
#include "backends/costs/in_model.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/verdicts.h"
#include "core/system/file.h"
#include "core/text/log.h"
#include "tests/backends/graph_on_fake.h"
#include "tests/support/cases.h"
#include "tests/support/temporary_path.h"

static struct cost_database *open_costs(const char *path, const char *device)
{
    struct cost_database *costs;
    OK(cost_database_open(&costs, path, device, &error));
    return costs;
}

// "a", "b", ...
static const char *name_of(int i)
{
    static char name[2];
    name[0] = (char)('a' + i);
    return name;
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

// Other runs' costs come in from the file again, this one's do not.
TEST(forgotten_costs_leave_the_file)
{
    static const char of_others[] = "(costs 4 \"one\")\n(\"y\" 2e-3 0 (run 5))\n";
    TEMPORARY_PATH(path);
    struct step_cost cost;
    struct cost_database *a = open_costs(path, "one");
    cost_database_add(a, "x", &(struct step_cost){.seconds = 1e-3});
    cost_database_add(a, "y", &(struct step_cost){.seconds = 1e-3});
    assert_true(cost_database_write(a, &(struct error){0}));
    cost_database_forget(a, "x");
    assert_false(cost_database_find(a, "x", &cost));
    assert_true(cost_database_write(a, &(struct error){0}));
    cost_database_forget(a, "y");
    assert_true(file_write_text(path, of_others, strlen(of_others), &(struct error){0}));
    write_and_close(a);
    a = open_costs(path, "one");
    assert_false(cost_database_find(a, "x", &cost));
    assert_true(cost_database_find(a, "y", &cost) && cost.seconds == 2e-3);
    cost_database_free(a);
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

// --- scenarios -------------------------------------------------------------------------------------------------------

struct scenario {
    const char *path;
    struct cost_database *costs;   // of the device "one"
    char *told;                    // warnings
    size_t size;
    struct log log;
};

// The cost of a step `(what name seconds mark...)`.
static struct step_cost cost_of(const struct sexp *step)
{
    struct step_cost cost = {.seconds = step->items[2].real};
    for (size_t i = 3; i < step->count; i++) {
        cost.is_doubtful = cost.is_doubtful || sexp_is_symbol(&step->items[i], "doubtful");
        cost.is_hurried = cost.is_hurried || sexp_is_symbol(&step->items[i], "hurried");
        cost.is_cut = cost.is_cut || sexp_is_symbol(&step->items[i], "cut");
        cost.is_in_model = cost.is_in_model || sexp_is_symbol(&step->items[i], "in-model");
        cost.is_old = cost.is_old || sexp_is_symbol(&step->items[i], "old");
        cost.run = sexp_is_call(&step->items[i], "run") ? (uint32_t)step->items[i].items[1].integer : cost.run;
    }
    return cost;
}

// The rows of a file; `(letters n seconds...)` are n rows of run 7, named by letters, with these seconds in turns.
static void write_file(const struct scenario *s, const struct sexp *step)
{
    ARENA(a);
    TEXT(text);
    for (size_t i = 1; i < step->count; i++) {
        const struct sexp *row = &step->items[i];
        for (int k = 0; sexp_is_call(row, "letters") && k < row->items[1].integer; k++)
            text_printf(&text, "(\"%s\" %g 0.1 (run 7))\n", name_of(k),
                        row->items[2 + (size_t)k % (row->count - 2)].real);
        if (!sexp_is_call(row, "letters"))
            text_printf(&text, "%s\n", text_of(&a, row));
    }
    OK(file_write_text(s->path, text.chars, text.count, &error));
}

static void expect_cost(const struct scenario *s, const char *name, const struct step_cost *wanted)
{
    struct step_cost cost;
    if (!cost_database_find(s->costs, name, &cost))
        fail_msg("%s is not there", name);
    if (wanted->seconds > 0 && fabs(cost.seconds - wanted->seconds) > 1e-4 * wanted->seconds)
        fail_msg("%s takes %g", name, cost.seconds);
    assert_true(cost.is_doubtful == wanted->is_doubtful && cost.is_in_model == wanted->is_in_model);
    assert_true((!wanted->run || cost.run == wanted->run) && (!wanted->is_old || cost.is_old));
}

static bool is_on_trial(const struct scenario *s, const char *name)
{
    struct step_cost cost;
    return cost_database_find(s->costs, name, &cost) && cost_database_is_on_trial(s->costs, name, &cost);
}

// A cost that is tried is there, and on trial no more.
static void try_cost(struct scenario *s, const char *name, const struct step_cost *now)
{
    struct step_cost cost;
    cost_database_try(s->costs, name, now, &s->log);
    assert_true(cost_database_find(s->costs, name, &cost) && !is_on_trial(s, name));
}

// Steps for several names have these in a list: `(try (a b) 1e-3)`; `retry` leaves out what is there no more.
static void do_for_name(struct scenario *s, const char *what, const char *name, const struct sexp *step)
{
    struct step_cost cost = step->count > 2 ? cost_of(step) : (struct step_cost){0}, found;
    if (strcmp(what, "add") == 0)
        cost_database_add(s->costs, name, &cost);
    else if (strcmp(what, "is") == 0)
        expect_cost(s, name, &cost);
    else if (strcmp(what, "none") == 0)
        assert_false(cost_database_find(s->costs, name, &found));
    else if (strcmp(what, "on-trial") == 0)
        assert_true(is_on_trial(s, name));
    else if (strcmp(what, "try") == 0 || cost_database_find(s->costs, name, &found))
        try_cost(s, name, &cost);
}

static void do_step(struct scenario *s, const struct sexp *step)
{
    const char *what = step->items[0].text;
    struct error error = {0};
    struct cost_database *other = NULL;
    if (strcmp(what, "file") == 0)
        write_file(s, step);
    else if (strcmp(what, "open") == 0)
        s->costs = open_costs(s->path, "one");
    else if (strcmp(what, "refused") == 0) {
        assert_false(cost_database_open(&other, s->path, "one", &error));
        assert_non_null(strstr(error.message, step->items[1].text));
        assert_int_equal(error.line, step->items[2].integer);
    } else if (strcmp(what, "write") == 0)
        assert_true(cost_database_write(s->costs, &error));
    else if (strcmp(what, "others-add") == 0) {
        other = open_costs(s->path, "one");
        cost_database_add(other, step->items[1].text, &(struct step_cost){.seconds = step->items[2].real});
        write_and_close(other);
    } else if (strcmp(what, "close") == 0) {
        write_and_close(s->costs);
    } else if (strcmp(what, "spoil") == 0) {
        assert_true(file_write_text(s->path, "(", 1, &error));
        assert_false(cost_database_write(s->costs, &error));
    } else if (strcmp(what, "drop") == 0)
        cost_database_free(s->costs);
    else if (strcmp(what, "told") == 0) {
        fflush(s->log.out);
        assert_true(*step->items[1].text ? strstr(s->told, step->items[1].text) != NULL : s->size == 0);
    } else if (strcmp(what, "warn") == 0)
        cost_database_warn(s->costs, &s->log);
    else if (strcmp(what, "count") == 0)
        assert_int_equal(cost_database_count(s->costs), step->items[1].integer);
    else if (step->items[1].kind == SEXP_LIST)
        for (size_t i = 0; i < step->items[1].count; i++)
            do_for_name(s, what, step->items[1].items[i].text, step);
    else
        do_for_name(s, what, step->items[1].text, step);
}

TEST_OF_CASES(costs_are_kept_merged_doubted_and_tried, c, "backends/costs.cases")
{
    TEMPORARY_PATH(path);
    struct scenario s = {.path = path};
    s.log = (struct log){open_memstream(&s.told, &s.size), "test", LOG_WARNING};
    for (size_t i = 1; i < c->count; i++)
        do_step(&s, &c->items[i]);
    fclose(s.log.out);
    free(s.told);
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

// --- runs ------------------------------------------------------------------------------------------------------------

#define TRIED 8

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
    TEXT(text);
    text_add(&text, "(costs 4 \"one\")\n(\"agreed\" 1.152e-3 0.1 (run 7))\n"
                    "(\"contest 0000000000000007\" 2e-3 0 \"0000000000000005 0000000000000000 0 0 0 0\" (run 7))\n"
                    "(\"doubtful\" 2.16e-3 0.1 (run 7) doubtful)\n(\"failed\" 1e5 0.1 (run 7))\n"
                    "(\"rest\" 1.44e-3 0.1 \"way\" (run 7))\n(\"short\" 1e-9 0.1 (run 7))\n");
    for (int i = 0; i < TRIED; i++)
        text_printf(&text, "(\"%s\" 1.44e-3 0.1 (run 7))\n", name_of(i));
    text_add(&text, "(costs 4 \"two\")\n(\"rest\" 1.6e-3 0.1 (run 7))\n");
    OK(file_write_text(path, text.chars, text.count, &error));
    struct cost_database *costs = open_costs(path, "one");
    cost_database_try(costs, "agreed", &(struct step_cost){.seconds = 0.9e-3}, &log);
    for (int i = 0; i < TRIED; i++)
        cost_database_try(costs, name_of(i), &now, &log);
    assert_true(cost_database_find(costs, "a", &cost));
    uint32_t run = cost.run;
    expect_divided(costs, run, false);
    OK(cost_database_write(costs, &error));
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
