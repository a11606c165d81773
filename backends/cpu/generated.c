// Kernels that are found by their text, and loops as such (generated/rows.h). Without a compiler there is none.
#include "backends/cpu/generated.h"

#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/loop_text.h"
#include "backends/generated/rows.h"
#include "backends/planning/plan_memory.h"
#include "backends/programs/programs.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <string.h>

// --- instruction sets ------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
const struct cpu_machine *cpu_machine_here(void)
{
    static const struct cpu_machine avx512 = {"avx512", "x86-64-v4", 16, 32}, avx2 = {"avx2", "x86-64-v3", 8, 16},
                                    baseline = {"baseline", "x86-64-v2", 4, 16};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return &avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : &baseline;
}
#else
const struct cpu_machine *cpu_machine_here(void)
{
    static const struct cpu_machine machine = {"baseline", "armv8-a", 4, 32};
    return &machine;
}
#endif

// --- kernels ---------------------------------------------------------------------------------------------------------

bool cpu_find_kernel(const struct step_request *r, const char *text, generated_run_fn **ret_run)
{
    struct program program;
    struct error ignored;
    void *run = NULL;
    if (programs_find(r->backend->programs, text, &program, &ignored))
        run = program_function(&program, "run");
    memcpy(ret_run, &run, sizeof run);
    return run != NULL;
}

struct generated_run {
    generated_run_fn *run;
    const void *const *given;
    float *scratch;
    size_t scratch_floats;
};

static void run_part(void *argument, int part, int parts)
{
    const struct generated_run *r = argument;
    r->run(r->given, r->scratch + (size_t)part * r->scratch_floats, part, parts);
}

void cpu_run_generated(const struct execution *e, int threads, generated_run_fn *run, const void *const *given,
                       size_t scratch_floats)
{
    struct generated_run r = {run, given, (float *)e->scratch, scratch_floats};
    parallel_for(e->workers, threads, run_part, &r);
}

// --- loops -----------------------------------------------------------------------------------------------------------

#define FEW_PLACES 2048     // of a step's loops: what is shorter is not worth a compiler's time
#define MANY_PLACES 32768   // worth it whatever is computed

struct generated_rows {
    generated_run_fn *run;
    int n_addresses, threads;
    const struct loop_access *accesses;
    const int64_t *numbers;
    float **addresses;
};

static bool takes_rows(const struct plan *plan, const struct step *step)
{
    return step->kernel == &cpu_kernel_loops.base;
}

bool cpu_loop_has_functions(const struct loop *l)
{
    for (int i = 0; i < l->n_instructions; i++) {
        uint8_t fn = l->instructions[i].fn;
        if (l->instructions[i].kind == INSTRUCTION_APPLY &&
            (fn == FN_EXP || fn == FN_SIGMOID || fn == FN_TANH || fn == FN_ERF))
            return true;
    }
    return false;
}

// Functions that take longer than memory does, and what goes over its rows several times, if there is something of it.
static bool is_worth_generating(const struct step *step)
{
    bool is_hard = false;
    double places = 0;
    EACH(step->loops, step->n_loops, l) {
        places += loop_places(l);
        is_hard = is_hard || loop_text_reduction(l) < l->n_instructions || cpu_loop_has_functions(l);
    }
    return places >= (is_hard ? FEW_PLACES : MANY_PLACES);
}

static void list_rows(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    TEXT(text);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    struct listed_choice c = {.text = "rows"};
    if (is_worth_generating(step) && rows_print(&text, step, b->machine->lanes, &k))
        vec_push(list, c);
}

// It has no schedule that could be described.
static bool describe_rows(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                          const char *choice, struct schedule_features *ret_features, struct text *kernel)
{
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    if (kernel && !rows_print(kernel, step, b->machine->lanes, &k))
        text_clear(kernel);
    return false;
}

static void *prepare_rows(const struct step_request *r)
{
    TEXT(text);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    struct generated_rows *s = arena_new(r->arena, struct generated_rows);
    if (!rows_print(&text, r->step, r->backend->machine->lanes, &k) || !cpu_find_kernel(r, text.chars, &s->run))
        return NULL;
    s->n_addresses = (int)k.accesses.count;
    s->accesses = arena_copy_array(r->arena, k.accesses.items, k.accesses.count);
    s->numbers = arena_copy_array(r->arena, k.numbers.list.items, k.numbers.list.count);
    s->addresses = arena_array(r->arena, float *, k.accesses.count + 1);
    s->threads = r->backend->threads;
    return s;
}

static bool run_rows(void *state, const struct execution *e)
{
    const struct generated_rows *s = state;
    for (int i = 0; i < s->n_addresses; i++)
        s->addresses[i] = (float *)e->memory[s->accesses[i].memory] + s->accesses[i].offset;
    cpu_run_generated(e, s->threads, s->run, (const void *[]){s->addresses, s->numbers}, 0);
    return true;
}

static const struct cpu_kernel rows_kernel = {.base = {.name = "loops"}, .prepare = prepare_rows, .run = run_rows};
const struct cpu_way cpu_way_rows = {"rows", takes_rows, list_rows, &rows_kernel, .describe = describe_rows};
