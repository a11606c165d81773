// One line per message: "program: warning: text", "program: text" for information.
#include "core/text/log.h"
#include "core/text/text.h"
#include <stdarg.h>
#include <stdbool.h>

static bool is_wanted(const struct log *log, enum log_level level)
{
    return log && log->out && log->level >= level;
}

static void write_message(const struct log *log, const char *kind, const char *format, va_list arguments)
{
    TEXT(line);
    if (log->program)
        text_printf(&line, "%s: ", log->program);
    text_add(&line, kind);
    text_vprintf(&line, format, arguments);
    text_show(log->out, line.chars);
    fputc('\n', log->out);
}

void log_warning(const struct log *log, const char *format, ...)
{
    if (!is_wanted(log, LOG_WARNING))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_message(log, "warning: ", format, arguments);
    va_end(arguments);
}

void log_info(const struct log *log, const char *format, ...)
{
    if (!is_wanted(log, LOG_INFO))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_message(log, "", format, arguments);
    va_end(arguments);
}

void log_debug(const struct log *log, const char *format, ...)
{
    if (!is_wanted(log, LOG_DEBUG))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_message(log, "debug: ", format, arguments);
    va_end(arguments);
}
