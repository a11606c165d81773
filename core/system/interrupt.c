// A signal handler can only speak through process-wide flags. What ends programs often sends its signal twice in a row,
// to the process and to its group (timeout does): signals that follow one another closely are one request.
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define NANOSECONDS_OF_ONE_REQUEST 100000000

static volatile sig_atomic_t is_requested, ends_at_once;
static atomic_llong requested_at;   // in nanoseconds

static void ask_to_stop_or_end(int signal_number)
{
    long long now = (long long)(1e9 * clock_seconds());
    bool is_another = is_requested && now - atomic_load(&requested_at) > NANOSECONDS_OF_ONE_REQUEST;
    if (is_another || ends_at_once) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    if (!is_requested)
        atomic_store(&requested_at, now);
    is_requested = 1;
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop_or_end, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_end_at_once(bool is_wanted)
{
    ends_at_once = is_wanted;
}

static _Thread_local struct {
    const struct interrupt_listener *listener;
    double asked;
    bool wants_end;
} here;
static const double SECONDS_BETWEEN_QUESTIONS = 0.02;

void interrupt_listen(const struct interrupt_listener *listener)
{
    here.listener = listener;
    here.asked = 0;
    here.wants_end = false;
}

static bool listener_wants_end(void)
{
    double now = here.listener && !here.wants_end ? clock_seconds() : 0;
    if (now - here.asked >= SECONDS_BETWEEN_QUESTIONS) {
        here.wants_end = here.listener->wants_end(here.listener->context);
        here.asked = now;
    }
    return here.wants_end;
}

bool interrupt_requested(void)
{
    return is_requested != 0 || listener_wants_end();
}
