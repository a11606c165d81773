// The lines that people read: errors, log lines, progress; and the signal that asks for a stop.
#include "core/system/clock.h"
#include "core/system/in_hand.h"
#include "core/system/interrupt.h"
#include "core/system/signals.h"
#include "core/system/temporary.h"
#include "core/text/log.h"
#include "tests/support/cases.h"
#include <signal.h>
#include <time.h>

static const struct {
    const char *file;
    unsigned line, column;
    const char *message, *printed;
} table[] = {
    {"a.rules", 3, 14, "unknown operator", "taso: a.rules:3:14: unknown operator\n"},
    {"a.rules", 3, 0, "m", "taso: a.rules:3: m\n"},
    {"a.onnx", 0, 0, "is a folder", "taso: a.onnx: is a folder\n"},
    {"a.onnx", 0, 7, "m", "taso: a.onnx: m\n"},
    {NULL, 0, 0, "out of luck", "taso: out of luck\n"},
    {"a\x1b[2J", 1, 1, "x\n\x07y\x7f", "taso: a\\x1B[2J:1:1: x\\x0A\\x07y\\x7F\n"},
    {NULL, 0, 0, "caf\xC3\xA9", "taso: caf\xC3\xA9\n"},
    {NULL, 0, 0,
     "\xC2\x9B"
     "31m \xE2\x80\xAE \x9B.",
     "taso: \\u009B31m \\u202E \\x9B.\n"},
};

TEST_OF_EACH(errors_are_one_safe_line, row, table)
{
    struct error error;
    TEXT(printed);
    assert_false(error_set(&error, row->file, row->line, row->column, "%s", row->message));
    assert_int_equal(error.code, EXIT_BAD_INPUT);
    error_add(&printed, "taso", &error);
    assert_string_equal(printed.chars, row->printed);
}

TEST(long_texts_are_cut_in_the_right_place)
{
    struct error error;
    char path[1000], message[2000];
    memset(path, 'd', sizeof path);
    strcpy(path + sizeof path - 12, "/model.onnx");
    memset(message, 'm', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    assert_false(error_set_code(&error, EXIT_UNSUPPORTED, path, "%s", message));
    assert_int_equal(error.code, EXIT_UNSUPPORTED);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_memory_equal(error.file, "...ddd", 6);
    assert_string_equal(error.file + strlen(error.file) - 11, "/model.onnx");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

TEST(an_error_can_quote_itself)
{
    struct error error;
    error_set(&error, "inner.bin", 2, 3, "too short");
    error_set(&error, error.file, error.line, error.column, "weight w: %s", error.message);
    assert_string_equal(error.file, "inner.bin");
    assert_string_equal(error.message, "weight w: too short");
}

TEST(logs_by_level)
{
    static const char *const expected[] = {
        "",
        "t: warning: w1\n",
        "t: warning: w1\nt: i2\n",
        "t: warning: w1\nt: i2\nt: debug: d3\n",
    };
    for (int level = LOG_QUIET; level <= LOG_DEBUG; level++) {
        char *printed = NULL;
        size_t size = 0;
        struct log log = {open_memstream(&printed, &size), "t", (enum log_level)level};
        log_warning(&log, "w%d", 1);
        log_info(&log, "i%d", 2);
        log_debug(&log, "d%d", 3);
        fclose(log.out);
        assert_string_equal(printed, expected[level]);
        free(printed);
    }
    log_warning(NULL, "nobody %s", "listens");
}

// The clock goes on: what is told in minutes is half of one away from the next.
TEST(progress_is_quiet_and_then_speaks)
{
    static const char wanted[] = "searching:   0 %\nsearching:  25 %, about 3 h 00 min left  best 2.5 ms\n"
                                 "searching:  50 %, about 4 h 00 min left\nsearching:  50 %, about 2 h 30 min left\n";
    FILE *out = tmpfile();
    struct progress p;
    progress_start(&p, NULL, "silent", 10);
    progress_update(&p, 5, NULL);
    progress_end(&p);
    assert_non_null(out);
    progress_start(&p, out, "searching", 200);
    progress_update(&p, 50, NULL);
    assert_int_equal(ftell(out), 0);
    p.shown -= 60;
    p.started = clock_seconds() - 3610;
    progress_update(&p, 1, NULL);
    p.shown -= 60;
    progress_update(&p, 50, "best %.1f ms", 2.5);
    progress_update(&p, 51, NULL);
    p.shown -= 60;
    p.later = 7190;
    p.repeats = 0.5;   // of two hours
    progress_update(&p, 100, NULL);
    p.shown -= 60;
    p.deadline = clock_seconds() + 1840;   // all of it ends then, but for what comes later
    progress_update(&p, 100, NULL);
    progress_end(&p);
    check_printed(out, wanted);
}

static void show(struct progress *p, uint64_t done)
{
    p->shown -= 60;
    progress_update(p, done, NULL);
}

TEST(what_is_left_of_a_job_only_falls)
{
    static const char wanted[] = "one:  25 %, about 3 h 00 min left in all\none:  20 %, about 3 h 00 min left in all\n"
                                 "two:  50 %, about 1 h 50 min left in all\n"
                                 "two:  50 %, about 3 h 48 min left in all, as costs differ\n"
                                 "two:  50 %, about 1 h 00 min left in all, as costs differ\n";
    FILE *out = tmpfile();
    struct countdown countdown = {INFINITY, NULL};
    struct progress p;
    assert_non_null(out);
    progress_start(&p, out, "one", 100);
    p.countdown = &countdown;
    p.started = clock_seconds() - 1200;
    p.later = 7230;
    show(&p, 25);
    show(&p, 20);
    progress_start(&p, out, "two", 100);
    p.countdown = &countdown;
    p.started = clock_seconds() - 6630;
    show(&p, 50);
    countdown = (struct countdown){INFINITY, "costs differ"};
    p.later = 7080;
    show(&p, 50);
    countdown.ends = clock_seconds() + 3630;
    show(&p, 50);
    check_printed(out, wanted);
}

// The time that is said to be left never grows, and is near enough: rows are seconds, the share that was done, and seconds
// of measuring.
TEST_OF_CASES(what_is_left_follows_recorded_searches, c, "core/recorded_searches.cases")
{
    const double repeats = 1.5, of_repeats = 3;   // steady work of other turns like it
    double whole = c->items[c->count - 1].items[0].real, shown = INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const struct sexp *r = c->items[i].items;
        shown = fmin(shown, progress_seconds_left(r[1].real, r[0].real, r[2].real, repeats));
        assert_true(shown < whole + of_repeats && shown > 0.25 * (whole - r[0].real));
    }
    assert_true(shown < 0.7 * whole);
}

TEST(what_is_left_is_in_proportion)
{
    assert_true(progress_seconds_left(0.25, 10, 0, 0) == 30 && progress_seconds_left(0.25, 10, 10, 5) == 10);
}

TEST(clocks_run_forward)
{
    double wall = clock_seconds(), cpu = clock_cpu_seconds();
    for (volatile int i = 0; i < 3000000; i++)
        ;
    assert_true(clock_seconds() > wall);
    assert_true(clock_cpu_seconds() > cpu);
}

#define LONG_ENOUGH 600000   // milliseconds, after which this machine hangs

static void wait_for_milliseconds(long n)
{
    nanosleep(&(struct timespec){n / 1000, n % 1000 * 1000000}, NULL);
}

// To the process, as others send it; another thread takes it, when the machine lets it.
static bool is_asked_by(int signal_number)
{
    kill(getpid(), signal_number);
    for (int i = 0; i < LONG_ENOUGH / 5 && !interrupt_requested(); i++)
        wait_for_milliseconds(5);
    return interrupt_requested();
}

static void be_ended_by(int signal_number)
{
    kill(getpid(), signal_number);
    wait_for_milliseconds(LONG_ENOUGH);
}

// Whoever started the tests may have had them ignored.
static void install(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signals_install();
}

// Writes its temporary folder's path.
static int ask_and_be_ended(int out)
{
    struct temporary_folder folder = {0};
    char path[300];
    sigset_t blocked;
    install();
    if (!temporary_folder_make(&folder, &(struct error){0}))
        return 4;
    snprintf(path, sizeof path, "%s/model.onnx", folder.path);
    if (!fopen(path, "w") || write(out, folder.path, sizeof folder.path) != sizeof folder.path)
        return 4;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (interrupt_requested() || !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM))
        return 1;
    if (!is_asked_by(SIGTERM))
        return 2;
    kill(getpid(), SIGTERM);   // that came twice in a row: one request
    wait_for_milliseconds(180);
    be_ended_by(SIGINT);
    return 3;
}

// Gives the signal that ended the process which asks.
static int first_asks_and_second_ends(void)
{
    char folder[sizeof((struct temporary_folder *)0)->path];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int status = end_of(ask_and_be_ended, ends[1]);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(read(ends[0], folder, sizeof folder), sizeof folder);
    assert_int_not_equal(access(folder, F_OK), 0);   // it was removed, with the file
    close(ends[0]);
    close(ends[1]);
    return WTERMSIG(status);
}

// A busy machine may take so long between the two in a row that they are no longer one request.
TEST(the_first_signal_asks_and_the_second_ends)
{
    int ended_by = SIGTERM;
    for (int i = 0; i < 50 && ended_by == SIGTERM; i++)
        ended_by = first_asks_and_second_ends();
    assert_int_equal(ended_by, SIGINT);
}

static int end_as_copy(int is_by_itself)
{
    alarm(LONG_ENOUGH / 1000);   // ends it in any case
    temporary_folders_remove();
    if (is_by_itself)
        signals_end_process(0, 5);
    signals_end_process(SIGTERM, 0);
}

// A copy of the process ends alone, and leaves the folders of the one that it is a copy of.
static int outlive_copies(int unused)
{
    struct temporary_folder folder = {0};
    install();
    if (!temporary_folder_make(&folder, &(struct error){0}))
        return 4;
    int by_itself = end_of(end_as_copy, true), by_signal = end_of(end_as_copy, false);
    bool is_there = access(folder.path, F_OK) == 0;
    temporary_folder_remove(&folder);
    return !is_there                                                   ? 1
           : !WIFEXITED(by_itself) || WEXITSTATUS(by_itself) != 5      ? 2
           : !WIFSIGNALED(by_signal) || WTERMSIG(by_signal) != SIGTERM ? 3
                                                                       : 0;
}

TEST(copies_end_alone)
{
    assert_int_equal(end_of(outlive_copies, 0), 0);
}

static int ignore_interrupts(int unused)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_DFL);
    signals_install();
    kill(getpid(), SIGINT);
    wait_for_milliseconds(30);
    if (interrupt_requested())
        return 1;
    return is_asked_by(SIGHUP) ? 0 : 2;
}

TEST(what_is_ignored_stays_ignored)
{
    assert_int_equal(end_of(ignore_interrupts, 0), 0);
}

static int be_terminated(int asks)
{
    install();
    interrupt_end_at_once(true);
    if (!asks)
        be_ended_by(SIGTERM);
    interrupt_end_at_once(false);
    return is_asked_by(SIGTERM) ? 0 : 1;
}

TEST(work_that_asks_nobody_is_ended_at_once)
{
    assert_int_equal(end_of(be_terminated, true), 0);
    int status = end_of(be_terminated, false);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static int be_ended_soon(int is_done)
{
    install();
    interrupt_end_soon(true);
    if (!is_asked_by(SIGTERM))
        return 1;
    if (is_done)
        interrupt_end_soon(false);
    wait_for_milliseconds(is_done ? 2500 : LONG_ENOUGH);
    return 0;
}

TEST(work_that_is_mostly_done_is_ended_soon)
{
    assert_int_equal(end_of(be_ended_soon, true), 0);
    int status = end_of(be_ended_soon, false);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

// One that began twelve seconds ago beside one that just began.
TEST(what_takes_long_is_named)
{
    ARENA(arena);
    struct in_hand h;
    char line[200] = "";
    FILE *out = tmpfile();
    assert_non_null(out);
    in_hand_start(&h, &arena, out, "properties", 2, 2);
    in_hand_take(&h, 0, "short");
    in_hand_take(&h, 1, "endless");
    pthread_mutex_lock(&h.mutex);
    h.of_threads[1].began -= 12;
    h.progress.shown -= 60;
    pthread_mutex_unlock(&h.mutex);
    in_hand_finish(&h, 0);
    in_hand_finish(&h, 1);
    in_hand_end(&h);
    rewind(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_non_null(strstr(line, "endless takes long: "));
    fclose(out);
}
