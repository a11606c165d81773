// One line per message: "program: warning: text", "program: text" for information.
#include "core/text/log.h"
#include "core/text/text.h"
#include <stdarg.h>

void log_show(FILE *out, const char *lines)
{
    TEXT(shown);
    text_add_shown_lines(&shown, lines);
    fputs(shown.chars ? shown.chars : "", out);
}

void log_at(const struct log *log, enum log_level level, const char *format, ...)
{
    static const char *const kinds[] = {[LOG_WARNING] = "warning: ", [LOG_INFO] = "", [LOG_DEBUG] = "debug: "};
    if (!log || !log->out || log->level < level)
        return;
    TEXT(line);
    va_list arguments;
    if (log->program)
        text_printf(&line, "%s: ", log->program);
    text_add(&line, kinds[level]);
    va_start(arguments, format);
    text_vprintf(&line, format, arguments);
    va_end(arguments);
    log_show(log->out, line.chars);
    fputc('\n', log->out);
}
