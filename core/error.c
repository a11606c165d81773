// Errors are filled where bad input is found and printed once; what they quote comes from files, so nothing of it may
// reach a terminal as a control character.
#include "core/error.h"
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

static void fill(struct error *error, enum exit_code code, const char *file, unsigned line, unsigned column,
                 const char *format, va_list arguments)
{
    char message[sizeof error->message];
    vsnprintf(message, sizeof message, format, arguments);
    set_file_keeping_its_end(error, file ? file : "");
    memcpy(error->message, message, sizeof message);
    error->line = line;
    error->column = column;
    error->code = code;
}

bool error_set(struct error *error, const char *file, unsigned line, unsigned column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, EXIT_BAD_INPUT, file, line, column, format, arguments);
    va_end(arguments);
    return false;
}

bool error_set_code(struct error *error, enum exit_code code, const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, file, 0, 0, format, arguments);
    va_end(arguments);
    return false;
}

static void print_without_controls(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\x%02X", *c);
        else
            fputc(*c, out);
}

void error_print(FILE *out, const char *program, const struct error *error)
{
    fprintf(out, "%s: ", program);
    if (error->file[0]) {
        print_without_controls(out, error->file);
        if (error->line)
            fprintf(out, ":%u", error->line);
        if (error->line && error->column)
            fprintf(out, ":%u", error->column);
        fputs(": ", out);
    }
    print_without_controls(out, error->message);
    fputc('\n', out);
}

int error_exit(const char *program, const struct error *error)
{
    error_print(stderr, program, error);
    return (int)error->code;
}
