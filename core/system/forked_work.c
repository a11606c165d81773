// The result is written into memory that both processes share; the end of the copy, however it comes, closes its end of
// a pipe, which we wait for.
#include "core/system/forked_work.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define MILLISECONDS_BETWEEN_QUESTIONS 20

struct shared {
    bool is_done;
    _Alignas(16) char result[];
};

static void run_and_leave(const struct forked_work *work, struct shared *shared, pid_t parent)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // also when we are killed
#endif
    if (getppid() == parent) {
        work->run(work->context, shared->result);
        shared->is_done = true;
    }
    _exit(0);
}

static void wait_for_end(const struct forked_work *work, pid_t pid, int pipe_end)
{
    struct pollfd polled = {.fd = pipe_end};   // its hanging up is told in any case
    int n = 0;
    while (n == 0 || (n < 0 && errno == EINTR)) {
        if (work->wants_end(work->of_end)) {
            kill(pid, SIGKILL);
            break;
        }
        n = poll(&polled, 1, MILLISECONDS_BETWEEN_QUESTIONS);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void fork_and_wait(const struct forked_work *work, struct shared *shared)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_and_leave(work, shared, parent);
    }
    close(ends[1]);
    if (pid > 0)
        wait_for_end(work, pid, ends[0]);
    close(ends[0]);
}

bool forked_work_run(const struct forked_work *work, void *ret_result, size_t size)
{
    size_t bytes = sizeof(struct shared) + size;
    struct shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    fork_and_wait(work, shared);
    bool is_done = shared->is_done;
    if (is_done)
        memcpy(ret_result, shared->result, size);
    munmap(shared, bytes);
    return is_done;
}
