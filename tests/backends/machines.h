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

// Pointers and alignment are left to ASan and to the processor, which kernels without sanitizers run on: to compile with
// these checks, too, takes three times as long.
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define EXTRA_FLAG "-fsanitize=address,bounds,integer-divide-by-zero,shift,signed-integer-overflow"
#else
#define EXTRA_FLAG NULL
#endif

static inline struct programs *open_service(const struct machine *m)
{
    return programs_open(&(struct programs_options){
        .instruction_set = m->instruction_set, .folder = "", .extra_flag = EXTRA_FLAG, .seconds = 600});
}

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
