// Commands of the user's, run by a shell.
#pragma once
#include <stdio.h>

struct text;

// Adds a word that the shell takes as it is, whatever is in it.
void shell_add_word(struct text *line, const char *word);
// The output of the line; NULL: it cannot be started. pclose tells how it ended. The signals that end programs, which
// our threads block (core/system/interrupt.h), end it.
FILE *shell_start(const char *line);
