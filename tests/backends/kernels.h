// Kernels with all that they are given and all that they are to compute, at several places: on every instruction set that
// this processor has, and on another processor, where they become one program, which a cross compiler makes and an
// emulator runs.
#pragma once
#include "backends/generated/run.h"
#include "core/system/temporary.h"
#include "core/text/error.h"
#include "tests/backends/machines.h"

#define CROSS_COMPILER "/usr/bin/aarch64-linux-gnu-gcc"
#define EMULATOR "/usr/bin/qemu-aarch64"
#define NUMBER_ELSEWHERE 9        // of the machine
#define NOT_WRITTEN 0x7fd5a5a5u   // a NaN

// --- calls -----------------------------------------------------------------------------------------------------------

enum data_kind { FLOATS, INTEGERS, ADDRESSES };
struct kernel_data {
    enum data_kind kind;
    const void *values;
    size_t n;
};
struct kernel_call {
    const struct text *text;
    const void *const *given;   // data, y among them
    int n_given, parts;
    size_t n_data, n_scratch;
    struct kernel_data data[24];   // addresses behind what they are of
    float *y, *scratch;            // y has an entry more; scratch serves each part
    int64_t n_y;
    const double *wanted, *allowed;   // INFINITY is allowed where anything is
};

static inline const void *give(struct kernel_call *c, enum data_kind kind, const void *values, size_t n)
{
    assert_true(c->n_data < COUNT_OF(c->data));
    if (values)
        c->data[c->n_data++] = (struct kernel_data){kind, values, n};
    return values;
}

#define GIVE(c, ...)                                                                                                   \
    const void *given_to_##c[] = {__VA_ARGS__};                                                                        \
    c.given = given_to_##c;                                                                                            \
    c.n_given = COUNT_OF(given_to_##c)

static inline void mark_entries(float *entries, int64_t n)
{
    const uint32_t mark = NOT_WRITTEN;
    for (int64_t i = 0; i < n; i++)
        memcpy(&entries[i], &mark, sizeof mark);
}

// Entries of y that a part has written, into those that others have written before.
static inline void take_written(float *y, float *all, int64_t n)
{
    const uint32_t mark = NOT_WRITTEN;
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&y[i], &mark, sizeof mark) != 0) {
            if (memcmp(&all[i], &mark, sizeof mark) != 0)
                fail_msg("entry %d is written by two parts", (int)i);
            all[i] = y[i];
        }
    mark_entries(y, n);
}

// Parts run one after the other, which threads run beside each other: none may write an entry that another writes, be it
// the same value, nor the one behind all.
static inline void run_in_parts(struct programs *service, const struct kernel_call *c)
{
    generated_run_fn *run;
    LOCAL_ARRAY(float, all, (size_t)c->n_y + 1);
    find_run(service, c->text, &run);
    c->y[c->n_y] = 77;
    mark_entries(c->y, c->n_y);
    mark_entries(all, c->n_y);
    for (int part = 0; part < c->parts; part++) {
        run(c->given, c->scratch, part, c->parts);
        take_written(c->y, all, c->n_y);
    }
    memcpy(c->y, all, (size_t)c->n_y * sizeof *all);
    assert_true(c->y[c->n_y] == 77);
}

static inline bool is_near(double found, double wanted, double allowed)
{
    return isinf(allowed) || (isnan(wanted)   ? isnan(found)
                              : isinf(wanted) ? found == wanted
                                              : fabs(found - wanted) <= allowed);
}

// --- places ----------------------------------------------------------------------------------------------------------

struct place {
    const struct machine *machine;
    int number;
    struct programs *service;   // NULL: it is elsewhere
    bool only_collects;         // texts, so that they are compiled together
    int n_met;
    struct text text, calls;   // elsewhere, the program and " || trial_1_fails()" of each kernel
};

// Whether a kernel is only collected; else it has to be checked.
static inline bool is_collected(struct place *p, const struct text *text)
{
    p->n_met++;
    if (p->only_collects)
        programs_expect(p->service, text->chars);
    return p->only_collects;
}

// Trials of a kind: TASO_KERNEL_TRIALS here, or as many as suffice daily.
static inline int trials_at(const struct place *p, int daily)
{
    const char *said = getenv("TASO_KERNEL_TRIALS");
    return !p->service ? daily : said ? atoi(said) : (int)some_of((uint64_t)daily);
}

// The same for a trial each time that it is made.
static inline struct random random_of_trial(const struct place *p, uint64_t test, int number)
{
    return random_seed(hash_mix(hash_mix(test, (uint64_t)p->number), (uint64_t)number));
}

static inline void add_float(struct text *out, float value)
{
    if (isnan(value))
        text_add(out, "__builtin_nanf(\"\"),");
    else if (isinf(value))
        text_add(out, value > 0 ? "__builtin_inff()," : "-__builtin_inff(),");
    else
        text_printf(out, "%a,", value);
}

static inline void add_rounded(struct text *out, const char *name, const double *values, int64_t n)
{
    text_printf(out, "static const float NAMED(%s)[] = {", name);
    for (int64_t i = 0; i < n; i++)
        add_float(out, (float)values[i]);
    text_add(out, "0};\n");
}

static inline void add_address(struct text *out, const struct kernel_call *c, const void *at)
{
    size_t i = 0;
    while (i < c->n_data && c->data[i].values != at)
        i++;
    assert_true(i < c->n_data || !at || at == c->y);
    if (i < c->n_data)
        text_printf(out, "NAMED(d%zu),", i);
    else
        text_add(out, at ? "NAMED(y)," : "0,");
}

static inline void add_data(struct text *out, const struct kernel_call *c, size_t number)
{
    static const char *const types[] = {"float", "I", "void *const"};
    const struct kernel_data *d = &c->data[number];
    text_printf(out, "static const %s NAMED(d%zu)[] __attribute__((aligned(64))) = {", types[d->kind], number);
    for (size_t i = 0; i < d->n; i++)
        if (d->kind == FLOATS)
            add_float(out, ((const float *)d->values)[i]);
        else if (d->kind == INTEGERS)
            text_printf(out, "%lld,", ((const long long *)d->values)[i]);
        else
            add_address(out, c, ((const void *const *)d->values)[i]);
    text_add(out, "0};\n");
}

static inline void add_trial(struct text *out, const struct kernel_call *c, int number)
{
    text_printf(out, "#undef NAMED\n#define NAMED(name) trial_%d_##name\n%s", number, c->text->chars);
    text_printf(out, "static float NAMED(y)[%d], NAMED(scratch)[%zu] __attribute__((aligned(64)));\n", (int)c->n_y + 1,
                c->n_scratch + 1);
    for (size_t i = 0; i < c->n_data; i++)
        add_data(out, c, i);
    add_rounded(out, "wanted", c->wanted, c->n_y);
    add_rounded(out, "allowed", c->allowed, c->n_y);
    text_add(out, "int NAMED(fails)(void)\n{\nint n_false = 0;\nconst void *given[] = {");
    for (int i = 0; i < c->n_given; i++)
        add_address(out, c, c->given[i]);
    text_printf(out,
                "};\nfor (int part = 0; part < %d; part++)\nNAMED(run)(given, NAMED(scratch), part, %d);\n"
                "for (int i = 0; i < %d; i++) {\n"
                "float y = NAMED(y)[i], wanted = NAMED(wanted)[i], allowed = NAMED(allowed)[i];\n"
                "n_false += !(y == wanted || (y != y && wanted != wanted) || allowed > 3e38 ||"
                " __builtin_fabs((double)y - wanted) <= allowed);\n}\nreturn n_false;\n}\n",
                c->parts, c->parts, (int)c->n_y);
}

static inline void check_call(struct place *p, const struct kernel_call *c)
{
    if (!p->service) {
        add_trial(&p->text, c, p->n_met);
        text_printf(&p->calls, " || trial_%d_fails()", p->n_met);
        return;
    }
    run_in_parts(p->service, c);
    for (int64_t i = 0; i < c->n_y; i++)
        if (!is_near(c->y[i], c->wanted[i], c->allowed[i]))
            fail_msg("entry %d is %.9g for %.9g, of kernel %d\n%s", (int)i, c->y[i], c->wanted[i], p->n_met,
                     c->text->chars);
}

static inline void run_elsewhere(struct place *p)
{
    struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
    char command[1024];
    text_printf(&p->text, "int main(void)\n{\nreturn 0%s;\n}\n", p->calls.chars);
    assert_true(temporary_folder_make(&folder, &(struct error){0}));
    snprintf(command, sizeof command, "%s/a.c", folder.path);
    FILE *file = fopen(command, "w");
    assert_true(file && fputs(p->text.chars, file) >= 0 && fclose(file) == 0);
    snprintf(command, sizeof command,
             CROSS_COMPILER
             " -std=gnu17 -O2 -w -ffp-contract=fast -fno-math-errno -march=armv8-a -static %s/a.c -o %s/a"
             " && " EMULATOR " %s/a",
             folder.path, folder.path, folder.path);
    assert_int_equal(system(command), 0);
}

typedef void visit_fn(struct place *at);

static inline void visit_here(visit_fn *visit)
{
    struct machine machines[4];
    int n;
    list_machines(machines, &n);
    for (int i = 0; i < n && machines[i].is_here; i++) {
        struct programs *service = open_service(&machines[i]);
        for (int collects = 1; collects >= 0; collects--) {
            struct place at = {&machines[i], .number = i, .service = service, .only_collects = collects};
            visit(&at);
            assert_true(at.n_met > 0);
        }
        programs_close(service);
    }
}

// Vectors of four, as that processor has them. Sanitizers, which do not see what runs there, have met all that prints it.
static inline void visit_elsewhere(visit_fn *visit)
{
    const struct machine machine = {.lanes = 4, .registers = 32};
    struct place at = {&machine, .number = NUMBER_ELSEWHERE};
    if (getenv("TASO_FEW") || access(CROSS_COMPILER, X_OK) != 0 || access(EMULATOR, X_OK) != 0)
        skip();
    visit(&at);
    assert_true(at.n_met > 0);
    run_elsewhere(&at);
    text_free(&at.text);
    text_free(&at.calls);
}

// `TEST_OF_KERNELS(name) { ... }`: of those that are met at each place, `at`; or at those here.
#define TEST_OF_KERNELS_HERE(function)                                                                                 \
    static void function##_at(struct place *at);                                                                       \
    TEST(function)                                                                                                     \
    {                                                                                                                  \
        visit_here(function##_at);                                                                                     \
    }                                                                                                                  \
    static void function##_at(struct place *at)
#define TEST_OF_KERNELS(function)                                                                                      \
    static void function##_at(struct place *at);                                                                       \
    TEST(function##_on_aarch64)                                                                                        \
    {                                                                                                                  \
        visit_elsewhere(function##_at);                                                                                \
    }                                                                                                                  \
    TEST_OF_KERNELS_HERE(function)
