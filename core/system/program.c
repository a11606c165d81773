// The handler of SIGBUS may call only what is safe there: it finds the name of the mapped file in the lines of
// /proc/self/maps, "7f00-7fff r--p 00000000 08:01 1234   /the/file"; a name's own end of line is written as \012.
#define _GNU_SOURCE   // program_invocation_short_name
#include "core/system/program.h"
#include "core/system/cores.h"
#include "core/system/machine_load.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1024 };

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void hide_what_is_no_ascii(char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e)
            *text = '?';
}

static const char *read_hexadecimal(const char *s, uintptr_t *ret_value)
{
    *ret_value = 0;
    for (;; s++) {
        int digit = *s >= '0' && *s <= '9' ? *s - '0' : *s >= 'a' && *s <= 'f' ? *s - 'a' + 10 : -1;
        if (digit < 0)
            return s;
        *ret_value = *ret_value << 4 | (uintptr_t)digit;
    }
}

// The file of a line, when its range holds the address.
static const char *file_of_line(const char *line, uintptr_t address)
{
    uintptr_t begin, end;
    const char *at = read_hexadecimal(line, &begin);
    read_hexadecimal(at + (*at == '-'), &end);
    return address >= begin && address < end ? strchr(line, '/') : NULL;
}

// Over-long lines keep their beginning.
static const char *find_mapped_file(int maps, uintptr_t address, char *line)
{
    const char *found = NULL;
    char c;
    size_t n = 0;
    while (!found && read(maps, &c, 1) == 1) {
        if (c != '\n' && n < LONGEST_LINE - 1)
            line[n++] = c;
        if (c != '\n')
            continue;
        line[n] = '\0';
        found = file_of_line(line, address);
        n = 0;
    }
    return found;
}

static void end_as_truncated(int signal_number, siginfo_t *info, void *context)
{
    char line[LONGEST_LINE];
    int maps = info->si_code == BUS_ADRERR ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    const char *file = maps >= 0 ? find_mapped_file(maps, (uintptr_t)info->si_addr, line) : NULL;
    if (!file)
        signals_end_process(signal_number, 0);
    hide_what_is_no_ascii(line);
    say(program_invocation_short_name);
    say(": ");
    say(file);
    say(": was cut short while it was read\n");
    signals_end_process(0, EXIT_BAD_INPUT);
}

void program_begin(void)
{
    struct sigaction action = {.sa_sigaction = end_as_truncated, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

// Not another program that has loaded this one, as a debugger or a loader does.
static bool is_own_file(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strcmp(name + 1, program_invocation_short_name) == 0;
}

// OpenMP reads what is set before main begins.
void program_wait_passively_on_shared_machine(char **argv)
{
    static const char link[] = "/proc/self/exe", policy[] = "OMP_WAIT_POLICY";
    char path[4096];
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0 || getenv(policy) || getenv("GOMP_SPINCOUNT"))
        return;
    path[size] = '\0';
    if (is_own_file(path) && 2 * machine_others_running() >= cores_available() && setenv(policy, "passive", 0) == 0)
        execv(link, argv);
}

int program_end(const char *program, int code)
{
    struct error error;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    error_set(&error, NULL, 0, 0, "cannot write standard output: %s", strerror(errno));
    error_exit(program, &error);
    return code == EXIT_DONE ? EXIT_BAD_INPUT : code;
}
