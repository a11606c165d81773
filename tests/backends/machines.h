// Instruction sets that kernels are generated for, and which of them this processor has.
#pragma once
#include "backends/programs/programs.h"
#include "core/memory/hash.h"
#include "tests/support/check.h"

struct machine {
    const char *instruction_set;
    int lanes, registers;
    bool is_here;
};

static inline void list_machines(struct machine ret_machines[4], int *ret_n)
{
    int n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    ret_machines[n++] = (struct machine){"x86-64-v2", 4, 16, __builtin_cpu_supports("sse4.2") != 0};
    ret_machines[n++] =
        (struct machine){"x86-64-v3", 8, 16, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")};
    ret_machines[n++] =
        (struct machine){"x86-64-v4", 16, 32, __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")};
#elif defined(__aarch64__)
    ret_machines[n++] = (struct machine){"armv8-a", 4, 32, true};
#endif
    *ret_n = n;
}

#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define EXTRA_FLAG "-fsanitize=address,undefined"
#else
#define EXTRA_FLAG NULL
#endif

// Random steps for each instruction set: TASO_KERNEL_TRIALS, or as many as suffice daily.
static inline int n_trials(int daily)
{
    const char *said = getenv("TASO_KERNEL_TRIALS");
    return said ? atoi(said) : (int)some_of((uint64_t)daily);
}

// The same for a trial each time that it is made: a first time to have its text compiled with others'.
static inline struct random random_of_trial(uint64_t test, int machine, int number)
{
    return random_seed(hash_mix(hash_mix(test, (uint64_t)machine), (uint64_t)number));
}

static inline struct programs *open_service(const struct machine *m)
{
    return programs_open(&(struct programs_options){
        .instruction_set = m->instruction_set, .folder = "", .extra_flag = EXTRA_FLAG, .seconds = 600});
}

static inline void on_machines_here(void (*visit)(struct programs *service, const struct machine *m, int number))
{
    struct machine machines[4];
    int n;
    list_machines(machines, &n);
    for (int i = 0; i < n && machines[i].is_here; i++) {
        struct programs *service = open_service(&machines[i]);
        visit(service, &machines[i], i);
        programs_close(service);
    }
}

// `TEST_ON_MACHINES(name) { ... }`: for each instruction set `m` that this processor has, the `k`-th, by a service.
#define TEST_ON_MACHINES(function)                                                                                     \
    static void function##_on(struct programs *service, const struct machine *m, int k);                               \
    TEST(function)                                                                                                     \
    {                                                                                                                  \
        on_machines_here(function##_on);                                                                               \
    }                                                                                                                  \
    static void function##_on(struct programs *service, const struct machine *m, int k)

// The function `run` of a text, into a pointer to it.
static inline void find_run(struct programs *service, const struct text *text, void *ret_run)
{
    struct program program;
    struct error error = {0};
    const char *chars = text->chars;
    if (!programs_find(service, chars, &program, &error))
        fail_msg("%s\n%s", error.message, chars);
    void *run = program_function(&program, "run");
    assert_non_null(run);
    memcpy(ret_run, &run, sizeof run);
}

// From -1 to 1, and some more behind them, at a multiple of 64 bytes.
static inline float *random_floats(struct arena *arena, int64_t n, struct random *random)
{
    float *floats = arena_alloc(arena, (size_t)(n + 16) * sizeof *floats, 64);
    for (int64_t i = 0; i < n + 16; i++)
        floats[i] = (float)(2 * random_unit(random) - 1);
    return floats;
}
