// Threads of OpenMP belong to the thread that they work for: those that are asked are those that run kernels, and what
// is started in between is masked as its starter is.
#include "backends/cpu/undisturbed.h"

#include "core/system/interrupt.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static _Thread_local struct {
    sigset_t before;
    bool is_set;
} here;

// All but those that a thread causes itself, which cannot wait.
static void hold_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    here.is_set = pthread_sigmask(SIG_BLOCK, &held, &here.before) == 0;
}

static void release_signals(void)
{
    if (here.is_set)
        pthread_sigmask(SIG_SETMASK, &here.before, NULL);
    here.is_set = false;
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
