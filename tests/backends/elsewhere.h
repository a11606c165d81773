// Kernels on another processor than this one: they, their operands and what is wanted become one program, which a cross
// compiler makes and an emulator runs.
#pragma once
#include "tests/support/check.h"

#define CROSS_COMPILER "/usr/bin/aarch64-linux-gnu-gcc"
#define EMULATOR "/usr/bin/qemu-aarch64"

struct elsewhere {
    struct text text, calls;   // " || name()" for each trial
    int n_trials;
};

static inline void elsewhere_free(struct elsewhere *e)
{
    text_free(&e->text);
    text_free(&e->calls);
}

// Vectors of four, as that processor has them. Sanitizers, which do not see what runs there, have met all that prints it.
#define ELSEWHERE(name)                                                                                                \
    const struct machine machine = {.lanes = 4, .registers = 32};                                                      \
    struct elsewhere name FREED_BY(elsewhere_free) = {.n_trials = 0};                                                  \
    if (getenv("TASO_FEW") || access(CROSS_COMPILER, X_OK) != 0 || access(EMULATOR, X_OK) != 0)                        \
    skip()

// Names of what is added from here on are its own.
static inline void elsewhere_begin_trial(struct elsewhere *e)
{
    text_printf(&e->text, "#undef NAMED\n#define NAMED(name) trial_%d_##name\n", ++e->n_trials);
    text_printf(&e->calls, " || trial_%d_fails()", e->n_trials);
}

static inline void add_floats(struct elsewhere *e, const char *name, const float *values, size_t n)
{
    text_printf(&e->text, "static const float NAMED(%s)[] __attribute__((aligned(64))) = {", name);
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            text_add(&e->text, "__builtin_nanf(\"\"),");
        else if (isinf(values[i]))
            text_add(&e->text, values[i] > 0 ? "__builtin_inff()," : "-__builtin_inff(),");
        else
            text_printf(&e->text, "%a,", values[i]);
    text_add(&e->text, "0};\n");
}

static inline void add_integers(struct elsewhere *e, const char *name, const int64_t *values, size_t n)
{
    text_printf(&e->text, "static const I NAMED(%s)[] = {", name);
    for (size_t i = 0; i < n; i++)
        text_printf(&e->text, "%lld,", (long long)values[i]);
    text_add(&e->text, "0};\n");
}

static inline void add_rounded(struct elsewhere *e, const char *name, const double *values, size_t n)
{
    LOCAL_ARRAY(float, rounded, n + 1);
    for (size_t i = 0; i < n; i++)
        rounded[i] = (float)values[i];
    add_floats(e, name, rounded, n);
}

// `n` entries of NAMED(y), of which a part is made by the statements `run`, have to be as near to those wanted as is
// allowed; NAMED(scratch) is of some use to them.
static inline void elsewhere_end_trial(struct elsewhere *e, size_t n, const double *wanted, const double *allowed,
                                       size_t n_scratch, int parts, const char *run)
{
    add_rounded(e, "wanted", wanted, n);
    add_rounded(e, "allowed", allowed, n);
    text_printf(&e->text,
                "static float NAMED(y)[%zu], NAMED(scratch)[%zu] __attribute__((aligned(64)));\n"
                "int NAMED(fails)(void)\n{\nint n_false = 0;\nconst int parts = %d;\n"
                "for (int part = 0; part < parts; part++) {\n%s}\nfor (int i = 0; i < %zu; i++) {\n"
                "float y = NAMED(y)[i], wanted = NAMED(wanted)[i];\n"
                "n_false += !(y == wanted || (y != y && wanted != wanted) ||"
                " __builtin_fabs((double)y - wanted) <= NAMED(allowed)[i]);\n}\nreturn n_false;\n}\n",
                n, n_scratch + 1, parts, run, n);
}

static inline void elsewhere_run(struct elsewhere *e)
{
    char folder[] = "/tmp/taso_aarch64_XXXXXX", command[512];
    assert_true(e->n_trials > 0);
    text_printf(&e->text, "int main(void)\n{\nreturn 0%s;\n}\n", e->calls.chars);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "%s/a.c", folder);
    FILE *file = fopen(command, "w");
    assert_true(file && fputs(e->text.chars, file) >= 0 && fclose(file) == 0);
    snprintf(command, sizeof command,
             CROSS_COMPILER
             " -std=gnu17 -O2 -w -ffp-contract=fast -fno-math-errno -march=armv8-a -static %s/a.c -o %s/a"
             " && " EMULATOR " %s/a; code=$?; rm -r %s; exit $code",
             folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
}
