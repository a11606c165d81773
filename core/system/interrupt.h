// Long work asks whether it is to stop and keep what it has.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

// Flags of a program that has a thread for signals (signals.h). NULL, as in the beginning: signals are not ours.
struct interrupt_flags {
    atomic_bool is_requested, ends_at_once, ends_soon;
    atomic_int signal;           // the first one,
    atomic_llong requested_at;   // and when it came, in nanoseconds of clock_seconds
};
void interrupt_set_flags(struct interrupt_flags *flags);
bool interrupt_has_thread(void);   // do signals go to a thread of their own?
// While it is wanted, the first signal ends the program at once: for long work that asks nobody and leaves nothing. One
// that came before does, too.
void interrupt_end_at_once(bool is_wanted);
// While it is wanted, the first signal ends the program a second later: for work that asks nobody, leaves nothing, and
// is mostly done by then. What was asked for before lets it be done.
void interrupt_end_soon(bool is_wanted);
// Somebody else who may end the long work of this thread: asked by it at most every 20 ms, until it says yes once.
// NULL: nobody, and what was said is forgotten. The listener must live until then.
struct interrupt_listener {
    bool (*wants_end)(void *context);
    void *context;
};
void interrupt_listen(const struct interrupt_listener *listener);
const struct interrupt_listener *interrupt_listener(void);   // of this thread; NULL: none
bool interrupt_requested(void);                              // by a signal, or by this thread's listener
double interrupt_signalled_at(void);                         // by a signal, on clock_seconds; INFINITY: by none
// Is work that began then (clock_seconds) to be given up unfinished: has it gone on for so long since an end was
// asked for? One piece of work that may take longer asks this on its way.
#define INTERRUPT_SECONDS_OF_GRACE 0.6
bool interrupt_is_overdue(double began);
