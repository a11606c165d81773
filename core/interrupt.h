// Ctrl-C asks long work to stop and keep what it has; a second one ends the process at once.
#ifndef CORE_INTERRUPT_H
#define CORE_INTERRUPT_H
#include <stdbool.h>

void interrupt_install(void);      // SIGINT and SIGTERM; programs call it once in main
bool interrupt_requested(void);
#endif
