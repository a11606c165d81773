// Bad input is reported by returning false with one `struct error` filled; it is printed once, in main.
#pragma once
#include "core/exit_code.h"
#include <stdbool.h>

struct text;

struct error {
    char file[256];          // empty when no file is concerned; keeps the end of an over-long path
    unsigned line, column;   // from 1; 0 when unknown
    char message[768];       // one line, no trailing dot
    enum exit_code code;     // EXIT_BAD_INPUT unless error_set_code was used
};

// All are false, so that `return error_set(...)` reads well. `file` may be NULL; `error` may not.
bool error_fill(struct error *error, enum exit_code code, const char *file, unsigned line, unsigned column,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
#define error_set(error, file, line, column, ...) error_fill(error, EXIT_BAD_INPUT, file, line, column, __VA_ARGS__)
#define error_set_code(error, code, file, ...) error_fill(error, code, file, 0, 0, __VA_ARGS__)
// A line "program: file:line:column: message", as text_add_shown shows it.
void error_add(struct text *out, const char *program, const struct error *error);
// Prints it on stderr, and gives its exit code.
int error_exit(const char *program, const struct error *error);
