// A socket pair stands for both pipes: it is written without SIGPIPE, and the helper sees its end when we are gone,
// however we went.
#include "core/system/process.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_LINE ((size_t)64 << 20)
#define SECONDS_TO_END 2.0
#define SECONDS_TO_END_IN_HASTE 0.2   // once somebody has asked us to end
#define SECONDS_BETWEEN_LOOKS 0.2

extern char **environ;

// --- starting --------------------------------------------------------------------------------------------------------

int process_spawn(pid_t *ret_pid, const char *const *arguments, const int streams[3], char *const *environment)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        if (streams[i] < 0)
            posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
        else
            posix_spawn_file_actions_adddup2(&actions, streams[i], i);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int failure = posix_spawnp(ret_pid, arguments[0], &actions, &attributes, (char *const *)arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

bool process_start(struct process *ret_process, const char *const *arguments, struct error *error)
{
    int sockets[2];
    *ret_process = (struct process){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "no socket for %s: %s", arguments[0], strerror(errno));
    int failure = process_spawn(&ret_process->pid, arguments, (const int[]){sockets[1], -1, -1}, environ);
    close(sockets[1]);
    ret_process->socket = sockets[0];
    if (!failure)
        return true;
    close(sockets[0]);
    *ret_process = (struct process){0};
    return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s cannot be started: %s", arguments[0], strerror(failure));
}

// --- talking ---------------------------------------------------------------------------------------------------------

static bool wait_for(struct process *p, short what, double until, const char *name, struct error *error)
{
    double began = clock_seconds();
    for (;;) {
        double left = fmin(until - clock_seconds(), SECONDS_BETWEEN_LOOKS);
        struct pollfd polled = {.fd = p->socket, .events = what};
        int n = left > 0 ? poll(&polled, 1, (int)ceil(1e3 * left)) : 0;
        if (n > 0)
            return true;
        if (n == 0 && interrupt_is_overdue(began))
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "interrupted while %s was at work", name);
        if (n == 0 && until <= clock_seconds())
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s does not answer in time", name);
        if (n < 0 && errno != EINTR)
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s: %s", name, strerror(errno));
    }
}

static bool is_worth_another_try(ssize_t n)
{
    return n < 0 && (errno == EINTR || errno == EAGAIN);
}

static bool is_gone(const char *name, struct error *error)
{
    return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s ended unexpectedly", name);
}

bool process_send(struct process *p, const char *name, const void *bytes, size_t size, double seconds,
                  struct error *error)
{
    double until = clock_seconds() + seconds;
    for (const char *at = bytes; size;) {
        if (!wait_for(p, POLLOUT, until, name, error))
            return false;
        ssize_t n = send(p->socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && !is_worth_another_try(n))
            return is_gone(name, error);
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

// A helper answers with one line and is silent until it is asked again, so nothing stands behind the line.
bool process_receive_line(struct process *p, const char *name, struct text *ret_line, double seconds,
                          struct error *error)
{
    double until = clock_seconds() + seconds;
    char piece[4096];
    text_clear(ret_line);
    while (ret_line->count == 0 || ret_line->chars[ret_line->count - 1] != '\n') {
        if (!wait_for(p, POLLIN, until, name, error))
            return false;
        ssize_t n = recv(p->socket, piece, sizeof piece, MSG_DONTWAIT);
        if (is_worth_another_try(n))
            continue;
        if (n <= 0)
            return is_gone(name, error);
        if (ret_line->count + (size_t)n > LONGEST_LINE)
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s answers without an end", name);
        text_add_n(ret_line, piece, (size_t)n);
    }
    ret_line->chars[--ret_line->count] = '\0';
    return true;
}

double process_cpu_seconds(const struct process *p)
{
    clockid_t clock;
    struct timespec taken;
    bool is_known = p->pid && clock_getcpuclockid(p->pid, &clock) == 0 && clock_gettime(clock, &taken) == 0;
    return is_known ? (double)taken.tv_sec + 1e-9 * (double)taken.tv_nsec : 0;
}

// --- ending ----------------------------------------------------------------------------------------------------------

static bool has_ended(pid_t pid)
{
    pid_t ended = waitpid(pid, NULL, WNOHANG);
    return ended == pid || (ended < 0 && errno != EINTR);
}

void process_end(struct process *p)
{
    if (!p->pid)
        return;
    close(p->socket);
    double until = clock_seconds() + (interrupt_requested() ? SECONDS_TO_END_IN_HASTE : SECONDS_TO_END);
    bool is_over = has_ended(p->pid);
    while (!is_over && clock_seconds() < until) {
        poll(NULL, 0, 5);
        is_over = has_ended(p->pid);
    }
    if (!is_over) {
        kill(-p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    *p = (struct process){0};
}
