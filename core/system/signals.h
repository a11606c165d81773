// The ends of a program, from without or from within. Programs only: a library leaves signals to its host.
//
// Ctrl-C asks long work to stop and keep what it has (interrupt.h); a second one, a tenth of a second later or after
// that, ends the process at once.
#pragma once

// SIGINT, SIGTERM and SIGHUP, unless they are ignored. Programs call it once in main, before they have other threads.
void signals_install(void);
// Ends the process from within, also in a handler: temporary folders are removed, then it ends by that signal, or
// with an exit code where that is zero. Writing where nobody reads does the same.
_Noreturn void signals_end_process(int signal_number, int code);
