// Within single quotes a shell reads everything as it stands but a single quote.
#include "core/system/shell.h"

#include "core/text/text.h"
#include <signal.h>

void shell_add_word(struct text *line, const char *word)
{
    text_add(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(line, "'\\''");
        else
            text_add_n(line, word, 1);
    text_add(line, "'");
}

FILE *shell_start(const char *line)
{
    sigset_t none, ours;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &ours);
    FILE *from = popen(line, "re");
    pthread_sigmask(SIG_SETMASK, &ours, NULL);
    return from;
}
