// A compiler of C as a helper process: named by an absolute path, with an environment of its own, a limit of time, and
// ended with all that it has started.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

struct compiler {
    char path[256], version[256];   // the first line of what it says of itself
    double seconds;                 // that a run may take
    bool is_hanging;                // the last one took longer
};
// `path` NULL: the first that is there of /usr/bin/cc, gcc and clang. False: there is none, or it does not tell its
// version.
bool compiler_find(struct compiler *ret_compiler, const char *path, double seconds, struct error *error);
// A shared object of one text, as a sealed descriptor of memory; -1: failed, and the error says how in one line.
// `flags` end with NULL.
int compiler_run(struct compiler *c, const char *text, const char *const *flags, size_t *ret_size, struct error *error);
