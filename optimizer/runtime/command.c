// Times models by a command of the user's, which prints seconds.
#include "optimizer/runtime/command.h"

#include "core/system/shell.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "optimizer/limits.def"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// False: it prints without end.
static bool read_all(FILE *from, struct text *ret_text)
{
    char piece[1024];
    for (size_t n; ret_text->count <= MOST_PRINTED && (n = fread(piece, 1, sizeof piece, from)) > 0;)
        text_add_n(ret_text, piece, n);
    return ret_text->count <= MOST_PRINTED;
}

static bool read_last_word(struct text *printed, double *ret_seconds)
{
    static const char spaces[] = " \t\r\n";
    char *word = NULL, *rest, *end;
    if (!printed->count)
        return false;
    for (char *next = strtok_r(printed->chars, spaces, &rest); next; next = strtok_r(NULL, spaces, &rest))
        word = next;
    *ret_seconds = word ? strtod(word, &end) : 0;
    return word && *end == '\0' && isfinite(*ret_seconds) && *ret_seconds > 0;
}

bool command_measure(const char *command, const char *path, double *ret_seconds, struct error *error)
{
    TEXT(line);
    TEXT(printed);
    text_printf(&line, "%s ", command);
    shell_add_word(&line, path);
    FILE *from = shell_start(line.chars);
    if (!from)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "the command that measures cannot be started");
    bool ends = read_all(from, &printed);
    int status = pclose(from);
    bool is_read = ends && status == 0 && read_last_word(&printed, ret_seconds);
    if (is_read)
        return true;
    if (!ends)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "the command that measures prints over 1 MiB for %s",
                              path);
    return status != 0 ? error_set_code(error, EXIT_UNSUPPORTED, NULL, "the command that measures fails on %s", path)
                       : error_set_code(error, EXIT_UNSUPPORTED, NULL,
                                        "the command that measures prints no seconds for %s", path);
}
