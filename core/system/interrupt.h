// Ctrl-C asks long work to stop and keep what it has; a second one, a tenth of a second later or after that, ends the
// process at once.
#ifndef CORE_SYSTEM_INTERRUPT_H
#define CORE_SYSTEM_INTERRUPT_H
#include <stdbool.h>

// SIGINT, SIGTERM and SIGHUP, unless they are ignored. Programs call it once in main, before they have other threads.
void interrupt_install(void);
// What ends the process from within, also in a handler: temporary folders are removed, then it ends by that signal, or
// with an exit code where that is zero. Writing where nobody reads does the same.
_Noreturn void interrupt_end_here(int signal_number, int code);
bool interrupt_has_thread(void);   // do signals go to a thread of their own?
// While it is wanted, the first one ends the process at once, too: for long work that asks nobody and leaves nothing.
void interrupt_end_at_once(bool is_wanted);
// Somebody else who may end the long work of this thread: asked by it at most every 20 ms, until it says yes once.
// NULL: nobody, and what was said is forgotten. The listener must live until then.
struct interrupt_listener {
    bool (*wants_end)(void *context);
    void *context;
};
void interrupt_listen(const struct interrupt_listener *listener);
bool interrupt_requested(void);   // by a signal, or by this thread's listener
#endif
