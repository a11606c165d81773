// Mappings of files that nobody can write to, and of which no page is the process's own: whoever wrote there all the
// same (a debugger, a probe, what patches code while it runs) made a copy of the page, which would be lost.
#define _GNU_SOURCE   // madvise
#include "core/system/code_pages.h"

#ifdef __linux__
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct mapping {
    uintptr_t begin, end;
    bool is_as_in_file;   // by its first line: a private one, of a path, read only
    long own_kib;         // pages of the process's own, in memory
};

static bool begins_mapping(const char *line, struct mapping *ret_mapping)
{
    unsigned long begin, end;
    char permissions[8];
    int path = 0;
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &begin, &end, permissions, &path) != 3)
        return false;
    bool is_as_in_file = permissions[1] == '-' && permissions[3] == 'p' && path > 0 && line[path] == '/';
    *ret_mapping = (struct mapping){begin, end, is_as_in_file, -1};
    return true;
}

// `Swap` comes behind `Anonymous`: a mapping of which the system tells both is settled there.
static void read_line(struct mapping *m, const char *line)
{
    long kib;
    if (begins_mapping(line, m))
        return;
    if (sscanf(line, "Anonymous: %ld kB", &kib) == 1)
        m->own_kib = kib;
    else if (sscanf(line, "Swap: %ld kB", &kib) == 1 && m->is_as_in_file && m->own_kib == 0 && kib == 0)
        madvise((void *)m->begin, m->end - m->begin, MADV_DONTNEED);
}

void code_pages_forget(void)
{
    struct mapping mapping = {0};
    char line[PATH_MAX + 128];
    FILE *mappings = fopen("/proc/self/smaps", "re");
    while (mappings && fgets(line, sizeof line, mappings))
        read_line(&mapping, line);
    if (mappings)
        fclose(mappings);
}
#else
void code_pages_forget(void)
{
}
#endif
