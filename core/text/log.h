// Messages to stderr by level, passed as a context (no global); libraries take a `const struct log *` that may be NULL.
#pragma once
#include <stdio.h>

enum log_level { LOG_QUIET, LOG_WARNING, LOG_INFO, LOG_DEBUG };
struct log {
    FILE *out;
    const char *program;
    enum log_level level;
};
void log_warning(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
