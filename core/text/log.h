// Messages to stderr by level, passed as a context (no global); libraries take a `const struct log *` that may be NULL.
#pragma once
#include <stdio.h>

enum log_level { LOG_QUIET, LOG_WARNING, LOG_INFO, LOG_DEBUG };
struct log {
    FILE *out;
    const char *program;
    enum log_level level;
};
void log_show(FILE *out, const char *lines);   // as text_add_shown_lines does
void log_at(const struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define log_warning(log, ...) log_at((log), LOG_WARNING, __VA_ARGS__)
#define log_info(log, ...) log_at((log), LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at((log), LOG_DEBUG, __VA_ARGS__)
