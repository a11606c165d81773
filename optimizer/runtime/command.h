// Timing by a command of the user's: any runtime on any machine that a shell can reach.
#pragma once
#include <stdbool.h>

struct error;

// Runs `command PATH` in a shell; the last word that it prints is the seconds that one run of the model took. False: it
// fails, or prints something else (EXIT_UNSUPPORTED).
bool command_measure(const char *command, const char *path, double *ret_seconds, struct error *error);
