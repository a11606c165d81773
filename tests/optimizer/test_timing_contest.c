// The contest among ways to run a model, between contenders on paper whose runs take what a table says, by a clock on
// paper: however slow this machine is, the contest comes to the same.
#include "optimizer/run/contest.h"

#include "tests/support/check.h"
#include "tests/support/interruption.h"

#define MOST_CONTENDERS 5
#define LEAST_SECONDS 1e-6   // by the clock, of any run,
#define LEAST_SLEPT 5e-5     // and of one that sleeps
#define SECONDS_OF_A_LOOK 0.25

struct paper {
    const double *seconds;   // of each contender
    double noise;            // the most that is added to a run, as a share
    double of_load[64];      // by which factor the result is slower in its i-th load
    size_t result;
    int loads[MOST_CONTENDERS], runs[MOST_CONTENDERS];
    bool is_loaded[MOST_CONTENDERS];
    int most_loaded, fails_at;   // the load that fails, 0: none
    int n_loads, n_forgotten;
    const double *of_run;         // by which factor all runs of the machine take longer, from one to the next, so many;
    int n_of_run;                 // NULL: none does
    double now;                   // on the clock
    double slept;                 // seconds, by each run, or
    int slept_at;                 // by this one alone
    int interrupted_at, n_runs;   // after so many runs; -1: before it begins
    int n_shared;                 // looks at the machine, from the first one on, that find others on it; all runs take
    double when_shared;           // so many times as long until then; 0: as long
    const struct earlier_verdict *earlier;   // NULL: there is none
    bool is_of_pair;                         // it is of a contest of the two alone
    struct random random;
    struct sample_summary qualifying[MOST_CONTENDERS];
};

static const bool is_result[2 * MOST_CONTENDERS] = {[MOST_CONTENDERS] = true, true, true, true, true};
// Contenders: first the originals, then the results.
#define CONTEST(name, n_contenders, n_originals, ...)                                                                  \
    struct contest name = {.n = n_contenders, .is_result = &is_result[MOST_CONTENDERS - (n_originals)], __VA_ARGS__}

static bool load_paper(void *context, size_t i, struct error *error)
{
    struct paper *p = context;
    int n = 0;
    if (++p->n_loads == p->fails_at)
        return error_set_code(error, EXIT_INTERNAL, NULL, "no load");
    assert_false(p->is_loaded[i]);
    p->is_loaded[i] = true;
    p->loads[i]++;
    for (int k = 0; k < MOST_CONTENDERS; k++)
        n += p->is_loaded[k];
    p->most_loaded = n > p->most_loaded ? n : p->most_loaded;
    return true;
}

static bool run_paper(void *context, size_t i, double *ret_seconds, struct error *error)
{
    struct paper *p = context;
    double factor = i == p->result && p->of_load[p->loads[i]] > 0 ? p->of_load[p->loads[i]] : 1;
    assert_true(p->is_loaded[i]);
    p->runs[i]++;
    p->now += LEAST_SECONDS;
    if (++p->n_runs == p->slept_at || p->slept_at == 0)
        p->now += LEAST_SLEPT + p->slept;
    if (p->n_runs == p->interrupted_at)
        interrupt_listen(&interruption);
    factor *= p->n_shared > 0 && p->when_shared > 0 ? p->when_shared : 1;
    factor *= p->of_run ? p->of_run[p->n_runs % p->n_of_run] : 1;
    *ret_seconds = p->seconds[i] * factor * (1 + p->noise * random_unit(&p->random));
    return true;
}

static void forget_loads_of_paper(void *context, size_t n)
{
    ((struct paper *)context)->n_forgotten += (int)n;
}

static bool is_shared_paper(void *context)
{
    struct paper *p = context;
    p->now += SECONDS_OF_A_LOOK;
    return p->n_shared > 0 && p->n_shared-- > 0;
}

static double clock_of_paper(void *context)
{
    return ((const struct paper *)context)->now;
}

static void unload_paper(void *context, size_t i)
{
    struct paper *p = context;
    assert_true(p->is_loaded[i]);
    p->is_loaded[i] = false;
}

static bool recall_paper(void *context, const size_t *pair, struct earlier_verdict *ret_verdict)
{
    const struct paper *p = context;
    if (!p->earlier || (pair != NULL) != p->is_of_pair)
        return false;
    *ret_verdict = *p->earlier;
    return true;
}

static bool hold(struct paper *p, struct contest *c, struct contest_outcome *outcome)
{
    struct contest_runner e = {
        p, load_paper, run_paper, unload_paper, forget_loads_of_paper, is_shared_paper, clock_of_paper, recall_paper};
    p->random = random_seed(3);
    if (p->interrupted_at < 0)
        interrupt_listen(&interruption);
    bool is_held = contest_hold(&e, c, outcome, &(struct error){0});
    interrupt_listen(NULL);
    for (int i = 0; i < MOST_CONTENDERS; i++)
        assert_false(p->is_loaded[i]);
    return is_held;
}

static struct contest_outcome held(struct paper *p, struct contest *c)
{
    struct contest_outcome outcome = {.qualifying = p->qualifying};
    assert_true(hold(p, c, &outcome));
    return outcome;
}

// Without being told how they qualify: two that contend are in the final at once.
static struct contest_outcome held_at_once(struct paper *p, struct contest *c)
{
    struct contest_outcome outcome = {.qualifying = NULL};
    assert_true(hold(p, c, &outcome));
    return outcome;
}

// Layouts chosen by costs make the original slow: the gain is that against the other ones.
TEST(gains_are_over_the_fastest_original)
{
    static const double seconds[] = {0.0335, 0.0729, 0.0290, 0.0273, 0.0500};
    for (size_t most_loaded = 0; most_loaded < 3; most_loaded++) {
        struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3};
        CONTEST(c, 5, 2, .seconds = 0.01, .loads = 3, .most_loaded = most_loaded);
        struct contest_outcome outcome = held(&p, &c);
        assert_true(outcome.original == 0 && outcome.result == 3);
        assert_true(outcome.gain.ratio > 1.2 && outcome.gain.ratio < 1.25 && ratio_is_a_gain(&outcome.gain));
        assert_true(outcome.gain.n_loads == 3 && outcome.times[0].count >= 11);
        assert_true(p.qualifying[1].minimum >= 0.0729 && p.loads[1] == 1 && p.loads[0] == 4);
        assert_int_equal(p.most_loaded, most_loaded ? most_loaded : 5);
        assert_true(p.runs[4] < p.runs[3]);   // dropped
    }
}

// Where the result's time depends on where it lies in memory by more than is gained, nothing is won.
TEST(loads_that_differ_prove_nothing)
{
    static const double seconds[] = {0.010, 0.0099};
    struct paper p = {.seconds = seconds, .noise = 0.001, .result = 1, .of_load = {0, 1, 0.9, 1.1, 1}};
    CONTEST(c, 2, 1, .seconds = 0.01, .loads = 3);
    struct contest_outcome outcome = held(&p, &c);
    assert_false(ratio_is_a_gain(&outcome.gain));
    assert_true(outcome.gain.low > 0 && outcome.gain.low < 1 && outcome.gain.high > 1 && outcome.gain.n_loads == 3);
    memset(p.of_load, 0, sizeof p.of_load);
    memset(p.loads, 0, sizeof p.loads);
    assert_true(hold(&p, &c, &outcome));
    assert_true(ratio_is_a_gain(&outcome.gain));
}

// Without a result there is no final: which layouts suit the original is told all the same.
TEST(originals_alone_qualify)
{
    static const double seconds[] = {0.0335, 0.0300, 0.0729};
    struct paper p = {.seconds = seconds, .noise = 0.02};
    CONTEST(c, 3, 3, .seconds = 0.01, .loads = 3);
    struct contest_outcome outcome = held(&p, &c);
    assert_true(outcome.original == 1 && outcome.result == 3);
    assert_true(p.loads[1] == 1 && outcome.times[0].quartile1 == p.qualifying[1].quartile1);
}

// The seconds that runs slept at least after the interruption, but for the last one, which may end later than it
// should.
static double seconds_after(const struct paper *p)
{
    return p->slept * (p->n_runs - p->interrupted_at - 1);
}

// Slow models: with at least four rounds of all it would be ten seconds.
TEST(an_interruption_ends_it_soon)
{
    static const double seconds[] = {0.30, 0.31, 0.20, 0.21, 0.22};
    CONTEST(c, 5, 2, .seconds = 3, .loads = 3);
    struct paper p = {.seconds = seconds, .slept = 0.3, .interrupted_at = 3};
    struct contest_outcome outcome = held(&p, &c);
    assert_true(outcome.is_undecided && seconds_after(&p) < 2.1);
}

// The times measured by then decide, between the fastest that were run.
TEST(what_was_timed_before_an_interruption_decides)
{
    static const double seconds[] = {0.30, 0.35, 0.20, 0.15};
    for (size_t most_loaded = 0; most_loaded < 3; most_loaded++) {
        CONTEST(c, 4, 2, .seconds = 0.5, .loads = 3, .most_loaded = most_loaded);
        struct paper p = {.seconds = seconds, .noise = 0.01, .slept = 0.01, .interrupted_at = 60};
        struct contest_outcome outcome = held(&p, &c);
        assert_true(!outcome.is_undecided && outcome.original == 0 && outcome.result == 3);
        assert_true(ratio_is_a_gain(&outcome.gain) && outcome.times[1].count >= 4 && seconds_after(&p) < 2.1);
    }
    CONTEST(c, 4, 2, .seconds = 0.5, .loads = 3);
    struct paper p = {.seconds = seconds, .noise = 0.01, .slept = 1.1, .slept_at = 3, .interrupted_at = -1};
    struct contest_outcome outcome = held(&p, &c);
    assert_true(!outcome.is_undecided && outcome.original == 0 && outcome.result == 2 && p.qualifying[3].count == 0);
    assert_true(ratio_is_a_gain(&outcome.gain));
}

// Whenever the contest begins: a second after the signal there is time for a few runs.
TEST(a_signal_leaves_little_time)
{
    static const double seconds[] = {0.3, 0.2};
    static struct interrupt_flags flags;
    CONTEST(c, 2, 1, .seconds = 3, .loads = 3);
    struct paper p = {.seconds = seconds, .slept = 0.05, .now = 3};
    flags.requested_at = (long long)(1e9 * (p.now - 1));
    flags.is_requested = true;
    interrupt_set_flags(&flags);
    held_at_once(&p, &c);
    interrupt_set_flags(NULL);
    assert_true(p.n_runs <= 5);
}

// Runs that take many times what costs say, on a machine that others use: no factor is made of them. Where these end in
// time it begins again; where they are alone, costs are wrong.
TEST(others_are_waited_for)
{
    static const double seconds[] = {0.03, 0.02}, expected[] = {0.03, 0};
    static const struct {
        int n_shared;
        double when_shared, of_load;
        bool is_disturbed;
    } cases[] = {
        {3, 100, 0, false}, {1000, 100, 0, true}, {1000, 1.1, 0, false}, {0, 100, 0, false}, {1000, 1, 1, true}};
    for (size_t k = 0; k < COUNT_OF(cases); k++)
        for (int has_qualifying = 0; has_qualifying < 2; has_qualifying++) {
            struct paper p = {.seconds = seconds, .noise = 0.02, .result = 1, .slept_at = -1};
            CONTEST(c, 2, 1, .seconds = 0, .loads = 7, .deadline = 1.2, .expected = expected);
            p.n_shared = cases[k].n_shared;
            p.when_shared = cases[k].when_shared;
            for (int i = 0; cases[k].of_load > 0 && i < 64; i++)
                p.of_load[i] = i % 2 ? 0.4 : 2.5;
            struct contest_outcome outcome = (has_qualifying ? held : held_at_once)(&p, &c);
            assert_int_equal(outcome.is_disturbed, cases[k].is_disturbed);
            if (cases[k].is_disturbed)
                continue;
            assert_true(outcome.gain.ratio > 1.4 && outcome.gain.ratio < 1.6 && ratio_is_a_gain(&outcome.gain));
            assert_true(outcome.times[0].median < 0.04);
        }
}

// The time that a model of one small step takes beside that step is its own.
TEST(small_runs_are_not_waited_for)
{
    static const double seconds[] = {3e-5, 2e-5}, expected[] = {3e-7, 0};
    struct paper p = {.seconds = seconds, .noise = 0.02, .result = 1, .n_shared = 1000};
    CONTEST(c, 2, 1, .seconds = 0.1, .loads = 7, .expected = expected);
    struct contest_outcome outcome = held(&p, &c);
    assert_true(!outcome.is_disturbed && ratio_is_a_gain(&outcome.gain));
    assert_int_equal(p.n_shared, 1000);
}

// A machine that is a quarter slower now and then drops nobody who is as fast, nor one who ran before when it was.
TEST(machines_are_faster_now_and_then)
{
    static const double seconds[] = {0.0105, 0.0100, 0.0200, 0.0100, 0.0105};
    static const double of_run[] = {1.25, 1.25, 1.25, 1, 1, 1, 1, 1.25, 1.25, 1, 1, 1, 1, 1};
    for (int at = 1; at <= (int)COUNT_OF(of_run); at++) {
        struct sample_summary earlier[5] = {{0}};
        for (int i = 0; i < 5; i++)
            earlier[i] = (struct sample_summary){.count = 3, .quartile1 = seconds[i] * of_run[(i + at) % 7]};
        struct paper p = {.seconds = seconds, .noise = 0.01, .result = 3, .of_run = of_run, .n_of_run = at};
        CONTEST(c, 5, 3, .seconds = 0.01, .loads = 3, .earlier = earlier);
        struct contest_outcome outcome = held(&p, &c);
        assert_true(outcome.original == 1 && outcome.result == 3);
        assert_false(ratio_is_a_gain(&outcome.gain));
    }
}

// A contender that was far behind in runs before the contest is not loaded for it; where all were run, and are not loaded
// at once, only the final is left.
TEST(earlier_runs_qualify)
{
    static const double seconds[] = {0.0335, 0.0729, 0.0290, 0.0273, 0.0600};
    struct sample_summary earlier[5] = {{0}};
    for (int i = 0; i < 5; i++)
        earlier[i] = (struct sample_summary){.count = 3, .quartile1 = seconds[i]};
    for (size_t most_loaded = 0; most_loaded < 3; most_loaded++) {
        struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3};
        CONTEST(c, 5, 2, .seconds = 0.01, .loads = 3, .most_loaded = most_loaded, .earlier = earlier);
        int of_qualifying = most_loaded == 0 ? 1 : 0;
        struct contest_outcome outcome = held(&p, &c);
        assert_true(outcome.original == 0 && outcome.result == 3 && ratio_is_a_gain(&outcome.gain));
        assert_true(p.loads[1] == 0 && p.loads[4] == 0 && p.qualifying[4].quartile1 == seconds[4]);
        assert_int_equal(p.loads[2], of_qualifying);
        assert_int_equal(p.loads[3], of_qualifying + 3);
        assert_int_equal(contest_most_loads(&c), 3 * of_qualifying + 2 * 3);
        assert_int_equal(p.n_loads, 3 * of_qualifying + 2 * 3);
    }
    earlier[2].count = 0;   // so it alone has to be run
    struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3};
    CONTEST(c, 5, 2, .seconds = 0.01, .loads = 3, .most_loaded = 1, .earlier = earlier);
    held(&p, &c);
    assert_true(p.loads[2] == 1 && p.loads[3] == 3 && p.loads[4] == 0 && p.qualifying[2].count > 0);
    assert_int_equal(contest_most_loads(&c), 1 + 2 * 3);
}

// The verdict of an earlier contest stands, after a load of the two, and where it is known of these alone the others
// qualify as ever.
TEST(earlier_verdicts_stand)
{
    static const double seconds[] = {0.0335, 0.0729, 0.0290, 0.0273, 0.0500};
    static const struct earlier_verdict is_open = {0, 3, {1.22, 0.95, 1.3, 7}, 0.0273};
    static const struct earlier_verdict is_gain = {0, 3, {1.22, 1.21, 1.23, 7}, 0.0273};
    for (int k = 0; k < 12; k++) {
        const struct earlier_verdict *earlier = k < 6 ? &is_gain : &is_open;
        struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3, .earlier = earlier, .is_of_pair = k % 2};
        CONTEST(c, 5, 2, .seconds = 0.01, .loads = 3);
        c.most_loaded = (size_t)k / 2 % 3;
        struct contest_outcome outcome = held(&p, &c);
        assert_true(outcome.is_earlier && !outcome.is_doubted && outcome.original == 0 && outcome.result == 3);
        assert_memory_equal(&outcome.gain, &earlier->gain, sizeof outcome.gain);
        assert_true(outcome.times[0].count >= 2 && outcome.times[1].count >= 2);
        assert_true(outcome.times[0].minimum >= 0.0335 && outcome.times[1].maximum < 0.0335);
        assert_int_equal(p.n_loads, p.is_of_pair ? 5 + 2 : 2);
        assert_int_equal(p.qualifying[1].count > 0, p.is_of_pair);
    }
    static const struct earlier_verdict alone = {1, 5, {0}, 0.0729};
    struct paper p = {.seconds = seconds, .noise = 0.02, .earlier = &alone};
    CONTEST(c, 5, 5, .seconds = 0.01, .loads = 3);
    struct contest_outcome outcome = held_at_once(&p, &c);
    assert_true(outcome.is_earlier && outcome.original == 1 && outcome.result == 5 && p.n_loads == 1);
    assert_true(outcome.times[0].minimum >= 0.0729);
}

// Runs that are against it have it asked anew, unless they are so in one load of two alone.
TEST(earlier_verdicts_are_doubted)
{
    static const double seconds[] = {0.0335, 0.0729, 0.0290, 0.0273};
    static const struct earlier_verdict earlier[] = {{0, 2, {1.5, 1.4, 1.6, 7}, 0.02}, {0, 3, {0.9, 0.8, 1, 7}, 0.02}};
    for (int k = 0; k < 4; k++) {
        struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3, .earlier = &earlier[k / 2]};
        CONTEST(c, 4, 2, .seconds = 0.01, .loads = 3, .most_loaded = (size_t)k % 2);
        struct contest_outcome outcome = held(&p, &c);
        assert_true(outcome.is_doubted && !outcome.is_earlier && outcome.original == 0 && outcome.result == 3);
        assert_true(outcome.gain.ratio > 1.2 && outcome.gain.ratio < 1.25 && outcome.gain.n_loads == 3);
        assert_int_equal(p.n_loads, 2 * 2 + 4 + 2 * 3);
        assert_int_equal(p.n_loads - p.n_forgotten, contest_most_loads(&c));
    }
    static const struct earlier_verdict sound = {0, 3, {1.22, 1.21, 1.23, 7}, 0.0273};
    struct paper p = {.seconds = seconds, .noise = 0.02, .result = 3, .earlier = &sound, .of_load = {0, 1.2}};
    CONTEST(c, 4, 2, .seconds = 0.01, .loads = 3);
    struct contest_outcome outcome = held_at_once(&p, &c);
    assert_true(outcome.is_earlier && p.n_loads == 4);
}

// Nobody relies on what was cut or wide, nor on what cannot be a verdict of these: it is as if it was not there.
static const double seconds_of_four[] = {0.0335, 0.0729, 0.0290, 0.0273};
static const struct {
    struct earlier_verdict verdict;
    bool is_of_pair;
} other_verdicts[] = {
    {{0, 3, {1.22, 1.21, 1.23, 1}, 0.02}, false}, {{0, 3, {1.22, 1.21, 1.23, 2}, 0.02}, true},
    {{0, 3, {1.22, 1.01, 2.03, 7}, 0.02}, false}, {{0, 3, {0.9, 1e-6, 1e6, 7}, 0.02}, false},
    {{0, 3, {0.9, 1e-6, 1e6, 7}, 0.02}, true},    {{0, 4, {0}, 0.02}, false},
    {{1, 3, {1.22, 1.21, 1.23, 7}, 0.02}, true},  {{0, 2, {1.22, 1.21, 1.23, 7}, 0.02}, true},
};

TEST_OF_EACH(other_verdicts_are_not_looked_at, row, other_verdicts)
{
    struct paper p = {.seconds = seconds_of_four,
                      .noise = 0.02,
                      .result = 3,
                      .earlier = &row->verdict,
                      .is_of_pair = row->is_of_pair};
    CONTEST(c, 4, 2, .seconds = 0.01, .loads = 3);
    struct contest_outcome outcome = held(&p, &c);
    assert_true(!outcome.is_doubted && !outcome.is_earlier && outcome.is_settled);
    assert_true(outcome.original == 0 && outcome.result == 3 && outcome.gain.n_loads == 3);
    assert_int_equal(p.n_loads, 4 + 2 * 3);
}

// A contest that time cut short is not settled, nor one that scatters; one that is decided before is, and one that is
// open after as many loads as it may have.
TEST(cut_contests_are_not_settled)
{
    static const double faster[] = {0.4, 0.395}, slower[] = {0.4, 0.5};
    static const struct {
        const double *seconds;
        double deadline, scatter;
        size_t n_loads;
        bool is_settled;
    } cases[] = {
        {faster, 0, 0, 7, true}, {faster, 1e-9, 0, 1, false}, {faster, 0, 0.1, 7, true},
        {slower, 0, 0, 7, true}, {slower, 1e-9, 0, 1, false}, {faster, 0, 0.6, 7, false},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct paper p = {.seconds = cases[k].seconds, .noise = 0.001, .result = 1, .slept_at = -1};
        CONTEST(c, 2, 1, .loads = 7, .deadline = cases[k].deadline);
        c.seconds = 1e-3;   // as long as no load takes, so that none is spared
        for (int i = 0; i < 64; i++)
            p.of_load[i] = 1 - cases[k].scatter * (i % 3 - 0.9);
        struct contest_outcome outcome = held_at_once(&p, &c);
        assert_in_range(outcome.gain.n_loads, cases[k].n_loads, cases[k].scatter > 0 ? 39 : 7);
        assert_int_equal(outcome.is_settled, cases[k].is_settled);
    }
    struct paper vain = {.seconds = slower, .result = 1, .slept_at = -1};
    CONTEST(c, 2, 1, .seconds = 0, .loads = 7);
    struct contest_outcome outcome = held_at_once(&vain, &c);
    assert_true(outcome.is_settled && outcome.gain.n_loads == 3);
}

// An open final of a model that loads slowly ends when it has taken what finding the result took, and its verdict, that
// no gain was seen, serves later contests.
TEST(open_finals_last_as_long_as_they_are_worth)
{
    static const double seconds[] = {0.4, 0.395}, worth[] = {1e-3, 1e3};
    for (int k = 0; k < 2; k++) {
        struct paper p = {.seconds = seconds, .noise = 0.001, .result = 1, .slept = 1e-3};
        CONTEST(c, 2, 1, .seconds = 0.01, .loads = 7, .worth = worth[k]);
        struct contest_outcome outcome = {.qualifying = NULL};
        for (int i = 0; i < 64; i++)
            p.of_load[i] = 1 - 0.03 * (i % 3 - 0.9);
        assert_true(hold(&p, &c, &outcome));
        assert_true(outcome.is_settled && (k == 1 || !ratio_is_a_gain(&outcome.gain)));
        assert_in_range(outcome.gain.n_loads, k ? 11 : 7, k ? 39 : 7);
    }
}

// Neither an interruption nor other programs take a verdict away that was there.
TEST(earlier_verdicts_survive)
{
    static const double seconds[] = {0.3, 0.2}, expected[] = {0.3, 0.2};
    static const struct earlier_verdict earlier = {0, 1, {1.7, 1.69, 1.71, 7}, 0.2};
    CONTEST(c, 2, 1, .seconds = 3, .loads = 7, .expected = expected);
    struct paper cut = {.seconds = seconds, .slept = 0.9, .interrupted_at = 1, .earlier = &earlier};
    struct contest_outcome outcome = held(&cut, &c);
    assert_true(outcome.is_earlier && !outcome.is_undecided && outcome.gain.ratio == 1.7 && seconds_after(&cut) < 2.1);
    struct paper late = {.seconds = seconds, .slept = 9, .interrupted_at = -1, .earlier = &earlier};
    assert_true(hold(&late, &c, &outcome));
    assert_true(outcome.is_undecided && !outcome.is_earlier && late.n_runs == 1);
    struct paper busy = {.seconds = seconds, .slept_at = -1, .n_shared = 1000, .when_shared = 100, .earlier = &earlier};
    assert_true(hold(&busy, &c, &outcome));
    assert_true(outcome.is_earlier && !outcome.is_disturbed && outcome.gain.ratio == 1.7);
}

// Before the contest runs were long: the final has none but those that count, which are as many for both.
TEST(long_runs_warm_up_nobody)
{
    static const double of_run[] = {0.1, 0.2};
    for (int k = 0; k < 4; k++) {
        double seconds[2] = {of_run[k / 2], of_run[k / 2] - 0.01};
        struct sample_summary earlier[2];
        struct paper p = {.seconds = seconds, .result = 1, .slept_at = -1};
        CONTEST(c, 2, 1, .loads = 7, .most_loaded = 1, .earlier = earlier, .prepares_all = k % 2);
        for (int i = 0; i < 2; i++)
            earlier[i] = (struct sample_summary){.count = 3, .minimum = seconds[i], .quartile1 = seconds[i]};
        struct contest_outcome outcome = held(&p, &c);
        assert_int_equal(outcome.gain.n_loads, 4);
        assert_int_equal(p.runs[0], 4 * (k == 3 ? 2 : 3));   // those of 0.1 s are past the time of warming up by one
        assert_int_equal(p.runs[1], p.runs[0]);
        assert_int_equal(outcome.times[0].count, 8);
    }
}

// Runs that take seconds make a pair in each load. Four of them are a verdict; what is cut before, or scatters too much
// to be one by then, was short of time, whoever else runs.
TEST(few_long_pairs_are_a_verdict)
{
    static const double seconds[] = {5, 2};
    for (int k = 0; k < 8; k++) {
        int n_loads = 1 + k % 4;
        struct sample_summary earlier[2];
        struct paper p = {.seconds = seconds, .noise = 0.1, .result = 1, .slept = 1, .n_shared = 1000};
        CONTEST(c, 2, 1, .seconds = 3, .loads = 7, .deadline = 2 * n_loads - 0.5, .most_loaded = 1, .earlier = earlier,
                .prepares_all = true);
        for (int i = 0; i < 2; i++)
            earlier[i] = (struct sample_summary){.count = 3, .minimum = seconds[i], .quartile1 = seconds[i]};
        for (int i = 0; k >= 4 && i < 64; i++)
            p.of_load[i] = i % 2 ? 0.4 : 6;
        struct contest_outcome outcome = held(&p, &c);
        assert_true(!outcome.is_disturbed && p.runs[0] == n_loads && p.runs[1] == n_loads);
        assert_int_equal(outcome.is_undecided, n_loads < 4 || k >= 4);
        if (!outcome.is_undecided)
            assert_true(ratio_is_a_gain(&outcome.gain) && outcome.gain.n_loads == (size_t)n_loads);
    }
}

// Each load of the result is slower or faster by some normal number.
static struct ratio_summary gain_of_loads(struct paper *p, double seconds_left, double deadline, struct random *random)
{
    CONTEST(c, 2, 1, .seconds = seconds_left, .deadline = deadline, .loads = 7);
    memset(p->loads, 0, sizeof p->loads);
    for (int i = 0; i < 64; i++)
        p->of_load[i] = exp(0.01 * random_normal(random));
    struct contest_outcome outcome = held(p, &c);
    return outcome.gain;
}

// Rounds of statistics: a part of them daily, and all of them at night.
static int rounds_of(int all)
{
    return getenv("TASO_ALL_ROUNDS") ? all : all / 8;
}

// Loads are spared where a contest takes longer than its time, and nothing or very much is gained; that makes gains of
// nothing hardly more often.
TEST(slow_contests_end_when_they_are_decided)
{
    static const double much[] = {0.5, 0.4}, nothing[] = {0.4, 0.5}, equal[] = {0.4, 0.4};
    struct random random = random_seed(7);
    struct paper clear = {.seconds = much, .result = 1}, vain = {.seconds = nothing, .result = 1};
    struct paper none = {.seconds = equal, .result = 1};
    assert_int_equal(gain_of_loads(&clear, 0, 0, &random).n_loads, 4);
    assert_int_equal(gain_of_loads(&vain, 0, 0, &random).n_loads, 3);
    clear.slept = vain.slept = 1e-4;
    assert_int_equal(gain_of_loads(&clear, 0.2, 0, &random).n_loads, 7);
    assert_int_equal(gain_of_loads(&vain, 0.2, 0, &random).n_loads, 7);
    int n_gains = 0, n_loads = 0, n = rounds_of(3000);
    none.slept_at = -1;
    for (int i = 0; i < n; i++) {
        struct ratio_summary gain = gain_of_loads(&none, 0, 0, &random);
        n_gains += ratio_is_a_gain(&gain);
        n_loads += (int)gain.n_loads;
    }
    assert_in_range(n_gains, n / 300, n * 3 / 100);
    assert_in_range(n_loads, 4 * n, 6 * n);
}

// A gain of 1.5 times what loads scatter by is seen 98 times in 100 though loads are spared that look vain.
TEST(small_gains_are_not_given_up)
{
    static const double seconds[] = {0.4, 0.394044};
    struct random random = random_seed(11);
    struct paper p = {.seconds = seconds, .result = 1, .slept_at = -1};
    int n_gains = 0, n = rounds_of(4000);
    for (int i = 0; i < n; i++) {
        struct ratio_summary gain = gain_of_loads(&p, 0, 0, &random);
        n_gains += ratio_is_a_gain(&gain);
    }
    assert_in_range(n_gains, n * 975 / 1000, n * 9925 / 10000);
}

// A contest with time goes on while it is open: then a gain as large as what loads scatter by is seen 85 times in
// 100, and equal graphs are told apart no more often, most of them after a few loads.
TEST(open_contests_go_on)
{
    const int n = rounds_of(1000);
    static const double equal[] = {0.4, 0.4}, faster[] = {0.4, 0.396};
    struct random random = random_seed(13);
    struct paper none = {.seconds = equal, .result = 1, .slept_at = -1};
    struct paper gains = {.seconds = faster, .result = 1, .slept_at = -1};
    int n_false = 0, n_seen = 0;
    size_t n_loads = 0;
    for (int i = 0; i < n; i++) {
        struct ratio_summary gain = gain_of_loads(&none, 0, none.now + 60, &random);
        n_false += ratio_is_a_gain(&gain);
        n_loads += gain.n_loads;
        assert_true(gain.n_loads <= 39);
        gain = gain_of_loads(&gains, 0, gains.now + 60, &random);
        n_seen += ratio_is_a_gain(&gain);
    }
    assert_in_range(n_false, 0, n * 4 / 100);
    assert_in_range(n_seen, n * 80 / 100, n);
    assert_true(n_loads < 12 * (size_t)n);
    struct ratio_summary cut = gain_of_loads(&none, 0, none.now / 2, &random);   // a time that is past
    assert_int_equal(cut.n_loads, 0);                                            // two pairs of runs say nothing
}

TEST(a_load_that_fails_ends_it)
{
    static const double seconds[] = {0.010, 0.0099};
    CONTEST(c, 2, 1, .seconds = 0.01, .loads = 3);
    for (int i = 1; i <= 4; i++) {
        struct paper p = {.seconds = seconds, .fails_at = i};
        struct contest_outcome outcome = {.qualifying = p.qualifying};
        assert_false(hold(&p, &c, &outcome));
    }
}
