// Threads of OpenMP belong to the thread that they work for: those that are asked are those that run kernels, and what
// is started in between is masked as its starter is.
#include "backends/cpu/loops/kernel_scope.h"

#include "core/system/interrupt.h"
#include <omp.h>
#include <signal.h>
#include <stddef.h>

static _Thread_local struct {
    sigset_t before;
    int depth;   // of what has begun and not ended
} here;

// All but those that a thread causes itself, which cannot wait.
static void hold_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    if (here.depth++ == 0)
        pthread_sigmask(SIG_BLOCK, &held, &here.before);
}

static void release_signals(void)
{
    if (--here.depth == 0)
        pthread_sigmask(SIG_SETMASK, &here.before, NULL);
}

struct kernel_scope kernel_scope_begin(int threads)
{
    struct kernel_scope scope = {threads, omp_get_max_threads()};
    omp_set_num_threads(threads);   // of the calling thread alone
    if (!interrupt_has_thread()) {
#pragma omp parallel num_threads(threads) if (threads > 1)
        hold_signals();
    }
    return scope;
}

void kernel_scope_end(const struct kernel_scope *scope)
{
    if (!interrupt_has_thread()) {
#pragma omp parallel num_threads(scope->threads) if (scope->threads > 1)
        release_signals();
    }
    omp_set_num_threads(scope->threads_before);
}
