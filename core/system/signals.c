// A signal handler can only speak through process-wide flags. What ends programs often sends its signal twice in a row,
// to the process and to its group (timeout does): signals that follow one another closely are one request. What is
// ignored stays so: nohup and shells see to that for what runs in the background.
//
// A thread of its own takes them, and all others block them. Kernels that libraries make for themselves use the stack
// pointer for other things (oneDNN's convolutions let it point into the heap): the frame of a handler would be written
// over what lies there. It also ends the process, by the signal that a handler hands it through a pipe: it may do more
// than a handler.
#define _GNU_SOURCE   // ppoll
#include "core/system/signals.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/temporary.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define NANOSECONDS_OF_ONE_REQUEST 100000000
#define NANOSECONDS_TO_END_SOON 1000000000

static struct interrupt_flags flags;
static atomic_bool has_thread;
static int ending[2];                // a pipe: how the process ends
static _Atomic pid_t installed_in;   // the process that has the thread: copies of it have not
struct end {
    unsigned char signal, code;   // by a signal, or with an exit code where that is zero
};

static void ask_to_stop_or_end(int signal_number)
{
    long long now = (long long)(1e9 * clock_seconds());
    bool is_another = flags.is_requested && now - flags.requested_at > NANOSECONDS_OF_ONE_REQUEST;
    struct end end = {.signal = (unsigned char)signal_number};
    if (!flags.is_requested) {
        flags.requested_at = now;
        flags.signal = signal_number;
    }
    flags.is_requested = true;   // before it is asked, as who begins what ends at once asks in the other order
    if (is_another || flags.ends_at_once)
        (void)!write(ending[1], &end, sizeof end);
}

// Signals that are not ignored.
static void list_signals(sigset_t *ret_signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    sigemptyset(ret_signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(ret_signals, numbers[i]);
}

static void handle_signals(const sigset_t *signals)
{
    struct sigaction action = {.sa_handler = ask_to_stop_or_end, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 1; i < NSIG; i++)
        if (sigismember(signals, i))
            sigaction(i, &action, NULL);
}

static void end_process(struct end end)
{
    sigset_t own;
    if (!end.signal)
        _exit(end.code);
    signal(end.signal, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, end.signal);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(end.signal);
}

// Signals come while it waits, and at no other time.
static bool has_to_end(const sigset_t *while_waiting, struct end *ret_end)
{
    struct pollfd told = {ending[0], POLLIN, 0};
    bool is_limited = flags.ends_soon && flags.is_requested;
    long long left = flags.requested_at + NANOSECONDS_TO_END_SOON - (long long)(1e9 * clock_seconds());
    struct timespec limit = {.tv_nsec = left > 0 && left < NANOSECONDS_TO_END_SOON ? (long)left : 0};
    if (ppoll(&told, 1, is_limited ? &limit : NULL, while_waiting) > 0)
        return read(ending[0], ret_end, sizeof *ret_end) == sizeof *ret_end;
    *ret_end = (struct end){.signal = (unsigned char)flags.signal};
    return is_limited && left <= 0 && flags.ends_soon;
}

static void *take_signals(void *signals)
{
    struct end end;
    sigset_t while_waiting;
    handle_signals(signals);
    pthread_sigmask(SIG_BLOCK, NULL, &while_waiting);
    for (int i = 1; i < NSIG; i++)
        if (sigismember(signals, i))
            sigdelset(&while_waiting, i);
    while (!has_to_end(&while_waiting, &end))
        ;
    temporary_folders_remove();
    end_process(end);
    return NULL;
}

_Noreturn void signals_end_process(int signal_number, int code)
{
    struct end end = {(unsigned char)signal_number, (unsigned char)code};
    if (!has_thread || installed_in != getpid() || write(ending[1], &end, sizeof end) != sizeof end)
        end_process(end);
    for (;;)
        pause();
}

// The handler of a thread that writes where nobody reads.
static void end_without_reader(int signal_number)
{
    signals_end_process(signal_number, 0);
}

static void handle_closed_pipes(void)
{
    struct sigaction former, action = {.sa_handler = end_without_reader};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPIPE, NULL, &former) == 0 && former.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &action, NULL);
}

// Without a thread for them signals do what they do by themselves.
void signals_install(void)
{
    static sigset_t signals;
    pthread_t taker;
    if (pipe(ending) != 0)
        return;
    fcntl(ending[0], F_SETFD, FD_CLOEXEC);
    fcntl(ending[1], F_SETFD, FD_CLOEXEC);
    list_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    installed_in = getpid();
    has_thread = pthread_create(&taker, NULL, take_signals, &signals) == 0;
    if (has_thread) {
        pthread_detach(taker);
        interrupt_set_flags(&flags);
    } else
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    handle_closed_pipes();
}
