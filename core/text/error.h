// Bad input is reported by returning false with one `struct error` filled; it is printed once, in main.
#pragma once
#include "core/exit_code.h"
#include <stdbool.h>
#include <stdio.h>

struct error {
    char file[256];          // empty when no file is concerned; keeps the end of an over-long path
    unsigned line, column;   // from 1; 0 when unknown
    char message[768];       // one line, no trailing dot
    enum exit_code code;     // EXIT_BAD_INPUT unless error_set_code was used
};

// All return false, so that `return error_set(...)` reads well. `file` may be NULL; `error` may not.
bool error_set(struct error *error, const char *file, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool error_set_code(struct error *error, enum exit_code code, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// "program: file:line:column: message", as text_add_shown shows it.
void error_print(FILE *out, const char *program, const struct error *error);
// Printed on stderr; its exit code is given.
int error_exit(const char *program, const struct error *error);
