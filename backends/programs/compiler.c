// The compiler works in a folder of its own. It writes what it has to say into a pipe, which is read while it runs.
#define _GNU_SOURCE
#include "backends/programs/compiler.h"

#include "backends/programs/safe_folder.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/process.h"
#include "core/system/temporary.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MILLISECONDS 2
#define MOST_OUTPUT 4096
#define MOST_FLAGS 16

// --- processes -------------------------------------------------------------------------------------------------------

struct running {
    pid_t pid;
    int output;
    struct text said;   // the beginning of it
};

static bool start(struct running *r, const char *const *arguments, const char *folder)
{
    char temporary[300];
    char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent", temporary, NULL};
    int ends[2];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int failure = process_spawn(&r->pid, arguments, (const int[]){-1, ends[1], ends[1]}, environment);
    close(ends[1]);
    r->output = ends[0];
    if (failure)
        close(ends[0]);
    errno = failure;
    return !failure;
}

static void hear(struct running *r)
{
    char piece[1024];
    struct pollfd polled = {.fd = r->output, .events = POLLIN};
    while (poll(&polled, 1, 0) > 0) {
        ssize_t n = read(r->output, piece, sizeof piece);
        if (n <= 0)
            return;
        if (r->said.count < MOST_OUTPUT)
            text_add_n(&r->said, piece, (size_t)n);
    }
}

// Waits at most so long. False: it still runs. Nobody takes its number before it is ended.
static bool wait_for_end(struct running *r, double seconds)
{
    double until = clock_seconds() + seconds;
    for (;;) {
        siginfo_t ended = {0};
        int failure = waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        hear(r);
        if (failure || ended.si_pid == r->pid)   // where children are ignored it is gone
            return true;
        if (clock_seconds() > until)
            return false;
        poll(NULL, 0, POLL_MILLISECONDS);
    }
}

// All of its group, however it ended: nothing of it goes on.
static int end(struct running *r)
{
    int status = 0;
    kill(-r->pid, SIGKILL);
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(r->output);
    return status;
}

// The failure is told by the line with the first error, or else the first one.
static bool report_failure(const struct compiler *c, const char *said, struct error *error)
{
    const char *found = strstr(said, "error:");
    size_t length = strcspn(found ? found : said, "\n");
    return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s failed: %.*s", c->path, (int)(length < 400 ? length : 400),
                          found ? found : said);
}

static bool run(struct compiler *c, const char *const *arguments, const char *folder, struct text *ret_said,
                struct error *error)
{
    struct running r = {0};
    if (!start(&r, arguments, folder))
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s cannot be started: %s", c->path, strerror(errno));
    bool has_ended = wait_for_end(&r, c->seconds);
    int status = end(&r);
    *ret_said = r.said;
    c->is_hanging = !has_ended;
    if (!has_ended)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s did not end within %g s", c->path, c->seconds);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           report_failure(c, r.said.count ? r.said.chars : "it says nothing", error);
}

// --- finding ---------------------------------------------------------------------------------------------------------

static bool name_compiler(struct compiler *c, const char *path, struct error *error)
{
    static const char *const usual[] = {"/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"};
    size_t n = path ? 1 : sizeof usual / sizeof *usual;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = path ? path : usual[i];
        if (candidate[0] == '/' && strlen(candidate) < sizeof c->path && access(candidate, X_OK) == 0) {
            snprintf(c->path, sizeof c->path, "%s", candidate);
            return true;
        }
    }
    return path ? error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s is no compiler named by an absolute path", path)
                : error_set_code(error, EXIT_UNSUPPORTED, NULL, "there is no C compiler in /usr/bin");
}

bool compiler_find(struct compiler *ret_compiler, const char *path, double seconds, struct error *error)
{
    struct compiler c = {.seconds = seconds};
    TEXT(said);
    if (!name_compiler(&c, path, error))
        return false;
    bool is_found = run(&c, (const char *const[]){c.path, "--version", NULL}, "/nonexistent", &said, error);
    if (is_found && !said.count)
        is_found = error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s does not tell its version", c.path);
    if (is_found)
        snprintf(c.version, sizeof c.version, "%.*s", (int)strcspn(said.chars, "\n"), said.chars);
    *ret_compiler = c;
    return is_found;
}

// --- compiling -------------------------------------------------------------------------------------------------------

static bool compile_in(struct compiler *c, const char *folder, const char *text, const char *const *flags,
                       struct error *error)
{
    char source[300], object[300];
    const char *arguments[MOST_FLAGS + 8] = {c->path};
    size_t n = 1;
    TEXT(said);
    snprintf(source, sizeof source, "%s/unit.c", folder);
    snprintf(object, sizeof object, "%s/unit.so", folder);
    for (; *flags && n <= MOST_FLAGS; flags++)
        arguments[n++] = *flags;
    arguments[n++] = "-shared";
    arguments[n++] = "-fPIC";
    arguments[n++] = "-o";
    arguments[n++] = object;
    arguments[n++] = source;
    arguments[n] = NULL;
    return file_write_text(source, text, strlen(text), error) && run(c, arguments, folder, &said, error);
}

int compiler_run(struct compiler *c, const char *text, const char *const *flags, size_t *ret_size, struct error *error)
{
    struct temporary_folder folder = {0};
    int object = -1;
    if (!temporary_folder_make(&folder, error))
        return -1;
    int opened = safe_folder_open(folder.path, false, error);
    if (opened >= 0 && compile_in(c, folder.path, text, flags, error)) {
        object = safe_folder_read(opened, "unit.so", ret_size);
        if (object < 0)
            error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s has written no program", c->path);
    }
    if (opened >= 0)
        close(opened);
    temporary_folder_remove(&folder);
    return object;
}
