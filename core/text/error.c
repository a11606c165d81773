// Errors are filled where bad input is found and printed once; what they quote comes from files, so nothing of it may
// reach a terminal as a control character.
#include "core/text/error.h"
#include "core/text/text.h"
#include <stdarg.h>
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

void error_print(FILE *out, const char *program, const struct error *error)
{
    TEXT(line);
    text_printf(&line, "%s: ", program);
    if (error->file[0]) {
        text_add_shown(&line, error->file);
        if (error->line)
            text_printf(&line, ":%u", error->line);
        if (error->line && error->column)
            text_printf(&line, ":%u", error->column);
        text_add(&line, ": ");
    }
    text_add_shown(&line, error->message);
    fprintf(out, "%s\n", line.chars);
}

int error_exit(const char *program, const struct error *error)
{
    error_print(stderr, program, error);
    return (int)error->code;
}
