// Both are run on the same data. The norm of the terms of a sum comes from the same kernel, run on squares.
#include "backends/cpu/result_error.h"

#include "backends/cpu/ways.h"
#include "backends/planning/plan_memory.h"
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include <math.h>
#include <string.h>

enum data { SIGNED, POSITIVE, CANCELLING, N_DATA };
#define LARGE_MEAN 64      // of data of about 1
#define LEAST_ERROR 1e-9   // of one that is said to be inexact

struct comparing {
    const struct step_request *request;
    struct step exact, inexact;   // without the epilogue
    struct arena arena;
    char **memory;
    float *expected;   // a copy of the results
};

static size_t elements_of(const struct comparing *c, memory_id id)
{
    return (size_t)c->request->plan->memory.items[id].elements;
}

// --- data ------------------------------------------------------------------------------------------------------------

static void fill_activations(float *to, size_t n, enum data data, struct random *random)
{
    for (size_t i = 0; i < n; i++) {
        float x = (float)(2 * random_unit(random) - 1);
        to[i] = data == SIGNED ? x : data == POSITIVE ? fmaxf(0, x) : LARGE_MEAN + x;
    }
}

// Each second weight takes away what the one before it adds.
static void fill_weights(float *to, size_t n, enum data data, struct random *random)
{
    for (size_t i = 0; i < n; i++)
        to[i] = data == CANCELLING && i % 2 ? -to[i - 1] : (float)(2 * random_unit(random) - 1);
}

static void fill_operands(struct comparing *c, enum data data)
{
    struct random random = random_seed(1 + (uint64_t)data);
    for (int i = 0; i < c->exact.n_operands; i++) {
        memory_id id = c->exact.operands[i].memory;
        if (plan_keeps(c->request->plan, id))
            fill_weights((float *)c->memory[id], elements_of(c, id), data, &random);
        else
            fill_activations((float *)c->memory[id], elements_of(c, id), data, &random);
    }
}

static void square_operands(struct comparing *c)
{
    for (int i = 0; i < c->exact.n_operands; i++) {
        float *values = (float *)c->memory[c->exact.operands[i].memory];
        for (size_t k = 0; k < elements_of(c, c->exact.operands[i].memory); k++)
            values[k] *= values[k];
    }
}

// --- runs ------------------------------------------------------------------------------------------------------------

static bool run(struct comparing *c, const struct step *step)
{
    struct step_request r = *c->request;
    const struct cpu_kernel *kernel = cpu_kernel_of(c->request->plan, step);
    struct arena arena;
    arena_init(&arena);
    r.step = step;
    r.memory = c->memory;
    r.arena = &arena;
    void *state = kernel->prepare(&r);
    size_t bytes = state && kernel->scratch_bytes ? kernel->scratch_bytes(state) : 0;
    bool is_done = state && kernel->run(state, c->memory, arena_alloc(&arena, bytes + 64, 64));
    if (state && kernel->free)
        kernel->free(state);
    arena_free(&arena);
    return is_done;
}

static double error_of_results(const struct comparing *c, const float *results, const float *norms, size_t n)
{
    double difference = 0, size = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)results[i] - (double)c->expected[i];
        difference += d * d;
        size += (double)c->expected[i] * (double)c->expected[i];
        norm += fabs((double)norms[i]);
    }
    return difference > 0 ? sqrt(difference / fmax(size, norm)) : 0;
}

static bool compare_on(struct comparing *c, enum data data, double *ret_error)
{
    memory_id id = c->exact.results[0].memory;
    size_t n = elements_of(c, id);
    float *results = (float *)c->memory[id], *inexact = arena_array(&c->arena, float, n);
    fill_operands(c, data);
    if (!run(c, &c->exact))
        return false;
    memcpy(c->expected, results, n * sizeof *results);
    if (!run(c, &c->inexact))
        return false;
    memcpy(inexact, results, n * sizeof *results);
    square_operands(c);
    if (!run(c, &c->exact))
        return false;
    *ret_error = error_of_results(c, inexact, results, n);
    return true;
}

// --- from beginning to end -------------------------------------------------------------------------------------------

static bool is_in_f32(const struct step *step)
{
    for (int i = 0; i < step->n_operands; i++)
        if (step->operands[i].dtype != DTYPE_F32)
            return false;
    return step->n_results == 1 && step->results[0].dtype == DTYPE_F32;
}

static void give_memory(struct comparing *c, memory_id id)
{
    if (!c->memory[id])
        c->memory[id] = arena_alloc(&c->arena, (elements_of(c, id) + 16) * sizeof(float), 64);
    memset(c->memory[id], 0, elements_of(c, id) * sizeof(float));
}

bool cpu_result_error(const struct step_request *r, const char *choice, double *ret_error)
{
    struct comparing c = {.request = r, .exact = *r->step};
    bool is_done = is_in_f32(r->step);
    c.exact.n_loops = 0;
    c.exact.choice = "";
    c.inexact = c.exact;
    c.inexact.choice = choice;
    arena_init(&c.arena);
    c.memory = arena_array(&c.arena, char *, r->plan->memory.count + 1);
    for (int i = 0; is_done && i < c.exact.n_operands; i++)
        give_memory(&c, c.exact.operands[i].memory);
    if (is_done)
        give_memory(&c, c.exact.results[0].memory);
    c.expected = is_done ? arena_array(&c.arena, float, elements_of(&c, c.exact.results[0].memory)) : NULL;
    double error, largest = LEAST_ERROR;
    for (enum data data = 0; is_done && data < N_DATA; data++) {
        is_done = compare_on(&c, data, &error);
        largest = is_done ? fmax(largest, error) : 1;
    }
    *ret_error = isfinite(largest) ? fmin(largest, 1) : 1;
    arena_free(&c.arena);
    return is_done;
}
