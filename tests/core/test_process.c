// A helper answers, is gone, is too slow, or does not want to end: each is an error or nothing, and never a zombie.
#include "core/system/process.h"

#include "core/system/clock.h"
#include "tests/support/check.h"
#include <errno.h>

#define LONG_ENOUGH 600   // seconds, after which this machine hangs

static struct process start(const char *script)
{
    struct process p;
    const char *const arguments[] = {"sh", "-c", script, NULL};
    assert_true(process_start(&p, arguments, &(struct error){0}));
    return p;
}

static void end(struct process *p)
{
    pid_t pid = p->pid;
    process_end(p);
    assert_int_equal(p->pid, 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

TEST(test_answers)
{
    struct process p FREED_BY(end) = start("while read line; do echo \"got $line\" >&0; done");
    TEXT(line);
    for (int i = 0; i < 3; i++) {
        OK(process_send(&p, "echo", "hello\n", 6, LONG_ENOUGH, &error));
        OK(process_receive_line(&p, "echo", &line, LONG_ENOUGH, &error));
        assert_string_equal(line.chars, "got hello");
    }
}

TEST(test_gone)
{
    struct process p FREED_BY(end) = start("exit 0");
    TEXT(line);
    struct error error = {0};
    char block[1 << 16] = {0};
    assert_false(process_receive_line(&p, "helper", &line, LONG_ENOUGH, &error));
    assert_non_null(strstr(error.message, "helper ended unexpectedly"));
    bool is_sent = true;
    for (int i = 0; i < 100 && is_sent; i++)
        is_sent = process_send(&p, "helper", block, sizeof block, LONG_ENOUGH, &error);
    assert_false(is_sent);
}

TEST(test_slow)
{
    struct process p FREED_BY(end) = start("trap '' HUP TERM INT; while :; do sleep 0.1; done");
    TEXT(line);
    struct error error = {0};
    assert_false(process_receive_line(&p, "helper", &line, 0.2, &error));
    assert_non_null(strstr(error.message, "helper does not answer in time"));
    assert_int_equal(error.code, EXIT_UNSUPPORTED);
}

// Of the helper alone: not ours.
TEST(test_cpu_seconds)
{
    struct process p = start("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done >&0; read line");
    TEXT(line);
    assert_true(process_receive_line(&p, "counter", &line, LONG_ENOUGH, &(struct error){0}));
    double taken = process_cpu_seconds(&p), ours = clock_cpu_seconds();
    assert_true(taken > 1e-3);
    while (clock_cpu_seconds() < ours + 0.05)
        ;
    assert_true(process_cpu_seconds(&p) < taken + 0.04);
    end(&p);
    assert_true(process_cpu_seconds(&p) == 0);
}

TEST(test_missing)
{
    struct process p;
    struct error error = {0};
    const char *const arguments[] = {"no-such-program-here", NULL};
    assert_false(process_start(&p, arguments, &error));
    assert_non_null(strstr(error.message, "no-such-program-here cannot be started"));
    process_end(&p);
}
