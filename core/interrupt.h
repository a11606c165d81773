// Ctrl-C asks long work to stop and keep what it has; a second one ends the process at once.
#ifndef CORE_INTERRUPT_H
#define CORE_INTERRUPT_H
#include <stdbool.h>

void interrupt_install(void);   // SIGINT and SIGTERM; programs call it once in main
// While it is wanted, the first one ends the process at once, too: for long work that asks nobody and leaves nothing.
void interrupt_end_at_once(bool is_wanted);
bool interrupt_requested(void);
#endif
