// Threads of OpenMP belong to the thread that they work for: those that are asked are those that run kernels, and what
// is started in between is masked as its starter is.
#include "backends/cpu/undisturbed.h"

#include "core/system/interrupt.h"
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

void undisturbed_begin(int threads)
{
    if (interrupt_has_thread())
        return;
#pragma omp parallel num_threads(threads) if (threads > 1)
    hold_signals();
}

void undisturbed_end(int threads)
{
    if (interrupt_has_thread())
        return;
#pragma omp parallel num_threads(threads) if (threads > 1)
    release_signals();
}
