// Requests that long work ends: by signals, where a program has a thread for them, or by a listener of the thread that
// works, for the library in others. Of the process are the program's flags alone, which nothing but its main sets.
#include "core/system/interrupt.h"

#include "core/system/clock.h"
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static _Atomic(struct interrupt_flags *) of_program;   // NULL: signals are not ours

void interrupt_set_flags(struct interrupt_flags *flags)
{
    of_program = flags;
}

bool interrupt_has_thread(void)
{
    return of_program != NULL;
}

void interrupt_end_at_once(bool is_wanted)
{
    struct interrupt_flags *flags = of_program;
    if (!flags)
        return;
    flags->ends_at_once = is_wanted;
    if (is_wanted && flags->is_requested)
        kill(getpid(), flags->signal);
}

void interrupt_end_soon(bool is_wanted)
{
    struct interrupt_flags *flags = of_program;
    if (flags)
        flags->ends_soon = is_wanted && !flags->is_requested;
}

static _Thread_local struct {
    const struct interrupt_listener *listener;
    double asked;
    bool wants_end;   // said when it was asked
} here;
static const double SECONDS_BETWEEN_QUESTIONS = 0.02;

void interrupt_listen(const struct interrupt_listener *listener)
{
    here.listener = listener;
    here.asked = 0;
    here.wants_end = false;
}

const struct interrupt_listener *interrupt_listener(void)
{
    return here.listener;
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
    const struct interrupt_flags *flags = of_program;
    return (flags && flags->is_requested) || listener_wants_end();
}

double interrupt_signalled_at(void)
{
    const struct interrupt_flags *flags = of_program;
    return flags && flags->is_requested ? 1e-9 * (double)flags->requested_at : INFINITY;
}

bool interrupt_is_overdue(double began)
{
    double requested = interrupt_signalled_at();
    if (listener_wants_end())
        requested = fmin(requested, here.asked);
    return isfinite(requested) && clock_seconds() - fmax(requested, began) > INTERRUPT_SECONDS_OF_GRACE;
}
