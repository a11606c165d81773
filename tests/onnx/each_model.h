// Programs that read one model and write another, on as many as they are given: a start under sanitizers takes longer than
// most models do.
#pragma once
#include "core/memory/memory.h"
#include "core/text/error.h"
#include <stdio.h>

typedef bool (*model_fn)(const void *how, const char *from, const char *to, struct error *error);

static int exit_code_of(const char *program, const char *from, const char *to, model_fn judge, const void *how)
{
    struct error error = {0};
    size_t before = mem_in_use();
    if (!judge(how, from, to, &error))
        return error_exit(program, &error);
    return mem_in_use() == before ? EXIT_DONE : EXIT_INTERNAL;
}

// `paths` are pairs of a model and what is written for it, up to NULL. The greatest exit code; where there are several
// pairs, that of each is a line on stdout.
static int each_model(const char *program, char **paths, model_fn judge, const void *how)
{
    int greatest = EXIT_DONE;
    for (char **p = paths; *p; p += 2) {
        int code = exit_code_of(program, p[0], p[1], judge, how);
        greatest = code > greatest ? code : greatest;
        if (paths[2]) {
            printf("%d\n", code);
            fflush(stdout);
        }
    }
    return greatest;
}
