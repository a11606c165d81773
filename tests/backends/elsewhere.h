// Kernels on another processor than this one: they, their operands and what is wanted become one program, which a cross
// compiler makes and an emulator runs.
#pragma once
#include "core/text/text.h"
#include "tests/support/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CROSS_COMPILER "/usr/bin/aarch64-linux-gnu-gcc"
#define EMULATOR "/usr/bin/qemu-aarch64"

static inline bool has_elsewhere(void)
{
    return access(CROSS_COMPILER, X_OK) == 0 && access(EMULATOR, X_OK) == 0;
}

static inline void add_floats(struct text *text, const char *name, const float *values, size_t n)
{
    text_printf(text, "static const float NAMED(%s)[] __attribute__((aligned(64))) = {", name);
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            text_add(text, "__builtin_nanf(\"\"),");
        else if (isinf(values[i]))
            text_add(text, values[i] > 0 ? "__builtin_inff()," : "-__builtin_inff(),");
        else
            text_printf(text, "%a,", values[i]);
    text_add(text, "0};\n");
}

static inline void add_integers(struct text *text, const char *name, const int64_t *values, size_t n)
{
    text_printf(text, "static const I NAMED(%s)[] = {", name);
    for (size_t i = 0; i < n; i++)
        text_printf(text, "%lld,", (long long)values[i]);
    text_add(text, "0};\n");
}

// The text, and a main program that gives 0 where all `calls` (" || name()" each) do.
static inline int run_elsewhere(struct text *text, const struct text *calls)
{
    char folder[] = "/tmp/taso_aarch64_XXXXXX", command[512];
    text_printf(text, "int main(void)\n{\nreturn 0%s;\n}\n", calls->chars);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "%s/a.c", folder);
    FILE *file = fopen(command, "w");
    assert_true(file && fputs(text->chars, file) >= 0 && fclose(file) == 0);
    snprintf(command, sizeof command,
             CROSS_COMPILER
             " -std=gnu17 -O2 -w -ffp-contract=fast -fno-math-errno -march=armv8-a -static %s/a.c -o %s/a"
             " && " EMULATOR " %s/a; code=$?; rm -r %s; exit $code",
             folder, folder, folder, folder);
    return system(command);
}
