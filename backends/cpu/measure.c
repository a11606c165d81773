// What a step costs: it is prepared alone, over random data, and run until its median is known.
//
// Policy: activations are as warm as the step itself leaves them, packed weights are cold (a model's weights push each
// other out of the caches, and one layer's never stay): a step that is bound by reading them is prepared several times
// and the copies take turns, as the layers of a model do (three times what the last cache holds: with once and a half,
// a part stayed there, and NasRNN was estimated 17 % too low), and its time is taken as a share of that of a read of
// known size (yardstick.h); for other steps they are flushed; a sample is at least
// 50 µs (short steps without weights are repeated in it); two runs warm up; samples much longer than the shortest are
// disturbances and do not count; sampling
// ends when the median of the others is known to 2 %, or when the time for a step is spent.
#include "backends/contract/sampling.h"
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/memory_probe.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/random.h"
#include "core/statistics.h"
#include <math.h>
#include <omp.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LEAST_SAMPLE_SECONDS 5e-5
#define ENOUGH_SAMPLES 4   // when the time is over; with fewer, up to MOST_BUDGETS times the time is taken
#define MOST_BUDGETS 6
#define DISTURBED 1.4          // times the shortest sample
#define WORTH_COOLING 16384    // bytes of weights
#define LONG_RUN_SECONDS 1.0   // such a run is sample enough
#define CACHE_LINE 64
#define BOUND_BYTES_PER_SECOND 5e9      // a step that reads its weights faster than this is bound by that
#define COLD_BYTES ((size_t)96 << 20)   // of copies of weights: more than the caches keep
#define MOST_COPIES 96
#define BUDGETS_WHEN_BOUND 2   // of time: these samples scatter more
#define ATTEMPTS 2

struct measurement {
    const struct cpu_kernel *kernel;
    struct yardstick *yardstick;   // of a step that is bound by its weights, else NULL
    int n_states, next;
    void *states[MOST_COPIES];   // copies of the prepared step that take turns
    char **memory, *scratch, *weights;
    size_t weight_bytes;
};

// Small positive numbers do in any kernel: no denormals, no overflow in chains of products or exponentials. The same
// block of them is repeated.
static void fill_memory(char *to, const struct plan_memory *m, struct random *random)
{
    struct tensor_value block;
    char bytes[4096];
    size_t size = dtype_size(m->dtype), total = (size_t)m->elements * size;
    int64_t n = (int64_t)(sizeof bytes / size);
    block.type = type_make(m->dtype, 1, &n);
    block.data = bytes;
    value_fill_random(&block, random, 2);
    for (size_t at = 0; at < total; at += sizeof bytes)
        memcpy(to + at, bytes, total - at < sizeof bytes ? total - at : sizeof bytes);
}

static void give_memory(struct measurement *s, const struct plan *plan, memory_id id, struct arena *arena,
                        struct random *random)
{
    const struct plan_memory *m = &plan->memory.items[id];
    if (s->memory[id])
        return;
    s->memory[id] = arena_alloc(arena, (size_t)m->elements * dtype_size(m->dtype) + 64, 64);
    fill_memory(s->memory[id], m, random);
}

static void give_memories(struct measurement *s, const struct plan *plan, const struct step *step, struct arena *arena)
{
    struct random random = random_seed(1);
    for (int i = 0; i < step->n_operands; i++)
        give_memory(s, plan, step->operands[i].memory, arena, &random);
    for (int i = 0; i < step->n_results; i++)
        give_memory(s, plan, step->results[i].memory, arena, &random);
    for (int l = 0; l < step->n_loops; l++) {
        const struct loop *loop = &step->loops[l];
        for (int i = 0; i < loop->n_operands; i++)
            give_memory(s, plan, loop->operands[i].memory, arena, &random);
        for (int i = 0; i < loop->n_results; i++)
            give_memory(s, plan, loop->results[i].to.memory, arena, &random);
    }
}

#if defined(__x86_64__)
static void cool_memory(const char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += CACHE_LINE)
        _mm_clflush(bytes + at);
    _mm_mfence();
}
#else
static void cool_memory(const char *bytes, size_t size)
{
}
#endif

static bool time_runs(struct measurement *s, int repeats, double *ret_seconds)
{
    bool is_done = true;
    void *state = s->states[s->next++ % s->n_states];
    if (s->n_states == 1)
        cool_memory(s->weights, s->weight_bytes);
    double start = clock_seconds();
    for (int i = 0; i < repeats; i++)
        is_done = s->kernel->run(state, s->memory, s->scratch) && is_done;
    *ret_seconds = (clock_seconds() - start) / repeats;
    return is_done;
}

// A busy machine takes processors away for whole time slices: such samples are not a little but much too long. What is
// left of them after they are gone is in `samples` again.
static size_t drop_disturbed(double *samples, size_t n)
{
    double shortest = INFINITY;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        shortest = samples[i] < shortest ? samples[i] : shortest;
    for (size_t i = 0; i < n; i++)
        if (samples[i] <= DISTURBED * shortest)
            samples[kept++] = samples[i];
    return kept;
}

static bool take_sample(struct measurement *s, int repeats, double *ret_seconds)
{
    double as_it_is = s->yardstick ? yardstick_read(s->yardstick) : 1;
    double usual = s->yardstick ? yardstick_usual(s->yardstick) : 1;
    bool is_done = time_runs(s, repeats, ret_seconds);
    *ret_seconds *= usual / as_it_is;
    return is_done;
}

static int repeats_for(const struct measurement *s, double once)
{
    if (once >= LEAST_SAMPLE_SECONDS || s->weight_bytes)
        return 1;
    return (int)(LEAST_SAMPLE_SECONDS / (once + 1e-8)) + 1;
}

// Copies for a step that is bound by its weights. One that cannot be prepared again is no harm.
static void prepare_copies(struct measurement *s, const struct step_request *r, double seconds)
{
    bool is_bound = s->weight_bytes && (double)s->weight_bytes > BOUND_BYTES_PER_SECOND * seconds;
    size_t wanted = is_bound ? COLD_BYTES / s->weight_bytes + 1 : 1;
    while ((size_t)s->n_states < wanted && s->n_states < MOST_COPIES) {
        void *copy = s->kernel->prepare(r);
        if (!copy)
            return;
        s->states[s->n_states++] = copy;
    }
}

static bool sample(struct measurement *s, const struct step_request *r, double budget, struct step_cost *ret_cost)
{
    double samples[MOST_SAMPLES], first, second;
    size_t n = 0;
    if (!time_runs(s, 1, &first) || !time_runs(s, 1, &second))
        return false;
    if (second > LONG_RUN_SECONDS || interrupt_requested()) {
        *ret_cost = (struct step_cost){.seconds = second};
        return true;
    }
    prepare_copies(s, r, first < second ? first : second);
    if (s->n_states > 1) {
        s->yardstick = yardstick_of(r->backend);
        budget *= BUDGETS_WHEN_BOUND;
    }
    double start = clock_seconds();
    int repeats = repeats_for(s, first < second ? first : second);
    while (n < MOST_SAMPLES && !samples_suffice(samples, n)) {
        for (int i = 0; i < 4 && n < MOST_SAMPLES; i++)
            if (!take_sample(s, repeats, &samples[n++]))
                return false;
        if (!s->yardstick)
            n = drop_disturbed(samples, n);
        double spent = clock_seconds() - start;
        if (spent > (n < ENOUGH_SAMPLES ? MOST_BUDGETS * budget : budget))
            break;
    }
    struct sample_summary summary = sample_summarize(samples, n);
    *ret_cost = (struct step_cost){.seconds = summary.median, .spread = summary.spread};
    return true;
}

// Again when other programs came between: they often go. What they disturbed in the end is doubtful.
static bool sample_in_peace(struct measurement *s, const struct step_request *r, struct step_cost *ret_cost)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool was_busy = cpu_is_busy(r->backend);
        if (!sample(s, r, r->backend->base.options.seconds_per_step, ret_cost))
            return false;
        ret_cost->is_doubtful = cpu_is_busy(r->backend) || was_busy || interrupt_requested();
        if (!ret_cost->is_doubtful || interrupt_requested())
            return true;
    }
    return true;
}

bool cpu_measure(struct backend *backend, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                 struct error *error)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    struct arena arena;
    arena_init(&arena);
    omp_set_num_threads(b->threads);
    struct measurement s = {.kernel = (const struct cpu_kernel *)step->kernel};
    s.memory = arena_array(&arena, char *, plan->memory.count + 1);
    give_memories(&s, plan, step, &arena);
    struct step_request r = {b, plan, step, s.memory, &arena, error};
    s.states[0] = s.kernel->prepare(&r);
    bool is_done = s.states[0] != NULL;
    s.n_states = is_done;
    if (is_done) {
        s.scratch = arena_alloc(&arena, (s.kernel->scratch_bytes ? s.kernel->scratch_bytes(s.states[0]) : 0) + 64, 64);
        s.weight_bytes = s.kernel->weights ? s.kernel->weights(s.states[0], &s.weights) : 0;
        if (s.weight_bytes < WORTH_COOLING)
            s.weight_bytes = 0;
        is_done = sample_in_peace(&s, &r, ret_cost);
        if (!is_done)
            error_set_code(error, EXIT_INTERNAL, NULL, "the kernel %s failed", s.kernel->base.name);
        for (int i = 0; s.kernel->free && i < s.n_states; i++)
            s.kernel->free(s.states[i]);
    }
    arena_free(&arena);
    return is_done;
}
