// Errors are filled where bad input is found and printed once; what they quote comes from files, so nothing of it may
// reach a terminal as a control character.
#include "core/text/error.h"
#include "core/text/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_file_keeping_its_end(struct error *error, const char *file)
{
    size_t length = strlen(file), room = sizeof error->file - 1;
    if (length <= room)
        memmove(error->file, file, length + 1);
    else
        snprintf(error->file, sizeof error->file, "...%s", file + length - (room - 3));
}

bool error_fill(struct error *error, enum exit_code code, const char *file, unsigned line, unsigned column,
                const char *format, ...)
{
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    set_file_keeping_its_end(error, file ? file : "");
    memcpy(error->message, message, sizeof message);
    error->line = line;
    error->column = column;
    error->code = code;
    return false;
}

void error_add(struct text *out, const char *program, const struct error *error)
{
    text_printf(out, "%s: ", program);
    if (error->file[0]) {
        text_add_shown(out, error->file);
        if (error->line)
            text_printf(out, ":%u", error->line);
        if (error->line && error->column)
            text_printf(out, ":%u", error->column);
        text_add(out, ": ");
    }
    text_add_shown(out, error->message);
    text_add(out, "\n");
}

int error_exit(const char *program, const struct error *error)
{
    TEXT(line);
    error_add(&line, program, error);
    fputs(line.chars, stderr);
    return (int)error->code;
}
