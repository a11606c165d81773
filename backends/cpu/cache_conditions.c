// Near caches are swept by reading more than they hold; operands are written in place, with what they had. Weights are
// flushed. Those that a kernel packs are there once: the plain ones go when it has packed them.
#include "backends/cpu/cache_conditions.h"

#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/planning/plan_memory.h"
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define USUAL_NEAR_CACHE ((size_t)1 << 20)   // where the system does not tell
#define CACHE_LINE 64
#define WORTH_COOLING 16384   // bytes of weights
#define STEPS_SINCE_USE 2     // of the place of a result

struct span {
    char *at;
    size_t bytes;
};
typedef VEC(struct span) spans;

struct cache_conditions {
    struct cpu_backend *backend;
    const struct cpu_kernel *kernel;
    void *state;
    char **memory;           // of the plan
    struct arena unpacked;   // of the weights that the kernel may pack
    spans operands, results, weights;
    size_t weight_bytes;
    bool has_near_results;
};

// --- near caches -----------------------------------------------------------------------------------------------------

size_t cpu_sweep_bytes(struct cpu_backend *b)
{
    if (b->sweep)
        return b->sweep_bytes;
    long near = sysconf(_SC_LEVEL2_CACHE_SIZE);
    b->sweep_bytes = CPU_TIMES_SWEPT * (near > 0 ? (size_t)near : USUAL_NEAR_CACHE);
    b->sweep = mem_alloc_zero((size_t)b->threads * b->sweep_bytes);
    memset(b->sweep, 1, (size_t)b->threads * b->sweep_bytes);
    return b->sweep_bytes;
}

// --- memory ----------------------------------------------------------------------------------------------------------

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

static size_t bytes_of(const struct plan_memory *m)
{
    return (size_t)m->elements * dtype_size(m->dtype);
}

static bool is_result(const struct step *step, memory_id id)
{
    for (struct touched_memory t = {0}; step_next_memory(step, &t);)
        if (t.is_written && t.memory == id)
            return true;
    return false;
}

// Weights that nobody reads but who packs them.
static bool may_be_packed(const struct cache_conditions *s, const struct step_request *r, memory_id id)
{
    const struct step *step = r->step;
    bool is_packed = s->kernel->packed_operand && step->n_operands > CPU_PACKED_OPERAND && plan_keeps(r->plan, id) &&
                     step->operands[CPU_PACKED_OPERAND].memory == id &&
                     ALL(int, i, step->n_operands, i == CPU_PACKED_OPERAND || step->operands[i].memory != id);
    return is_packed && !step_reads_in_loops(step, id);
}

static bool give_memory(struct cache_conditions *s, const struct step_request *r, memory_id id, struct random *random)
{
    const struct plan_memory *m = &r->plan->memory.items[id];
    if (s->memory[id])
        return false;
    s->memory[id] =
        arena_alloc(may_be_packed(s, r, id) ? &s->unpacked : r->arena, bytes_of(m) + CACHE_LINE, CACHE_LINE);
    fill_memory(s->memory[id], m, random);
    return true;
}

static void give_operand(struct cache_conditions *s, const struct step_request *r, memory_id id, struct random *random)
{
    if (!give_memory(s, r, id, random))
        return;
    struct span span = {s->memory[id], bytes_of(&r->plan->memory.items[id])};
    if (plan_keeps(r->plan, id))
        vec_push(&s->weights, span);
    else
        vec_push(&s->operands, span);
}

static void give_result(struct cache_conditions *s, const struct step_request *r, memory_id id, struct random *random)
{
    if (give_memory(s, r, id, random))
        vec_push(&s->results, ((struct span){s->memory[id], bytes_of(&r->plan->memory.items[id])}));
}

// Memories are given in the order in which they are written before each run.
static void give_memories(struct cache_conditions *s, const struct step_request *r)
{
    const struct step *step = r->step;
    struct random random = random_seed(1);
    for (int l = 0; l < step->n_loops; l++)
        for (int i = step->loops[l].n_operands; i-- > 0;)
            if (!is_result(step, step->loops[l].operands[i].memory))
                give_operand(s, r, step->loops[l].operands[i].memory, &random);
    for (int i = step->n_operands; i-- > 0;)
        if (!is_result(step, step->operands[i].memory))
            give_operand(s, r, step->operands[i].memory, &random);
    for (int i = 0; i < step->n_results; i++)
        give_result(s, r, step->results[i].memory, &random);
    for (int l = 0; l < step->n_loops; l++)
        for (int i = 0; i < step->loops[l].n_results; i++)
            give_result(s, r, step->loops[l].results[i].to.memory, &random);
    for (int l = 0; l < step->n_loops; l++)
        for (int i = 0; i < step->loops[l].n_operands; i++)
            give_memory(s, r, step->loops[l].operands[i].memory, &random);
}

static size_t sum_of(const spans *list)
{
    return SUM_ALL(size_t, size_t, i, list->count, list->items[i].bytes);
}

// The place of the results was in use until some steps before, which are taken to be as large as this one.
static bool are_results_near(const struct cache_conditions *s)
{
    size_t own = sum_of(&s->operands) + sum_of(&s->results) + sum_of(&s->weights);
    return (1 + STEPS_SINCE_USE) * own <= cpu_sweep_bytes(s->backend) / CPU_TIMES_SWEPT;
}

// Packed weights are read instead of those that they were made from.
static void find_weights(struct cache_conditions *s)
{
    char *packed = NULL;
    size_t bytes = s->kernel->weights ? s->kernel->weights(s->state, &packed) : 0;
    if (s->kernel->packed_operand && s->kernel->packed_operand(s->state) >= 0)
        arena_free(&s->unpacked);
    if (bytes) {
        vec_clear(&s->weights);
        vec_push(&s->weights, ((struct span){packed, bytes}));
    }
    s->weight_bytes = sum_of(&s->weights);
    if (s->weight_bytes < WORTH_COOLING || s->backend->base.measuring.has_small_model)
        s->weight_bytes = 0;
}

// --- making it so ----------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
// The old instruction waits for each line: 19 ms for 9 MB instead of 0.5 on a Xeon of 2023.
__attribute__((target("clflushopt"))) static void flush_without_waiting(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        _mm_clflushopt((void *)(uintptr_t)(at + i));
}

// Asked once: a virtual machine stops its processor for the answer.
static pthread_once_t has_looked = PTHREAD_ONCE_INIT;
static bool can_flush_without_waiting;

static void look(void)
{
    unsigned a, b, c, d;
    can_flush_without_waiting = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT);
}

void cache_conditions_flush(const void *at, size_t bytes)
{
    pthread_once(&has_looked, look);
    if (can_flush_without_waiting)
        flush_without_waiting(at, bytes);
    else
        for (size_t i = 0; i < bytes; i += CACHE_LINE)
            _mm_clflush((const char *)at + i);
    _mm_mfence();
}
#elif defined(__aarch64__)
void cache_conditions_flush(const void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __asm__ volatile("dc civac, %0" ::"r"((const char *)at + i) : "memory");
    __asm__ volatile("dsb sy" ::: "memory");
}
#else
void cache_conditions_flush(const void *at, size_t bytes)
{
}
#endif

static void sweep_part(void *argument, int part, int parts)
{
    const struct span *own = argument;
    volatile char *sink = own->at + (size_t)part * own->bytes;
    for (size_t at = 0; at < own->bytes; at += CACHE_LINE)
        (void)sink[at];
}

// Each thread sweeps a buffer of its own.
static void sweep_near_caches(struct cpu_backend *b)
{
    size_t bytes = cpu_sweep_bytes(b);
    parallel_for(NULL, b->threads, sweep_part, &(struct span){b->sweep, bytes});
}

static void write_part(void *argument, int part, int parts)
{
    const struct span *span = argument;
    volatile char *bytes = span->at;
    size_t n = span->bytes / CACHE_LINE;
    for (size_t i = n * (size_t)part / (size_t)parts; i < n * (size_t)(part + 1) / (size_t)parts; i++)
        bytes[i * CACHE_LINE] = bytes[i * CACHE_LINE];
}

static void write_again(struct cpu_backend *b, struct span span)
{
    parallel_for(NULL, b->threads, write_part, &span);
}

static void flush_part(void *argument, int part, int parts)
{
    const struct span *span = argument;
    size_t begin = span->bytes * (size_t)part / (size_t)parts, end = span->bytes * (size_t)(part + 1) / (size_t)parts;
    cache_conditions_flush(span->at + begin, end - begin);
}

void cache_conditions_settle(struct cache_conditions *s)
{
    for (size_t i = 0; s->weight_bytes && i < s->weights.count; i++)
        parallel_for(NULL, s->backend->threads, flush_part, &s->weights.items[i]);
    sweep_near_caches(s->backend);
    for (size_t i = 0; s->has_near_results && i < s->results.count; i++)
        write_again(s->backend, s->results.items[i]);
    for (size_t i = 0; i < s->operands.count; i++)
        write_again(s->backend, s->operands.items[i]);
}

// --- from beginning to end -------------------------------------------------------------------------------------------

void *cache_conditions_state(const struct cache_conditions *s)
{
    return s->state;
}

char *const *cache_conditions_memory(const struct cache_conditions *s)
{
    return s->memory;
}

size_t cache_conditions_weight_bytes(const struct cache_conditions *s)
{
    return s->weight_bytes;
}

void cache_conditions_free(struct cache_conditions *s)
{
    if (s->kernel->free && s->state)
        s->kernel->free(s->state);
    arena_free(&s->unpacked);
    vecs_free(s, operands, results, weights);
}

struct cache_conditions *cache_conditions_make(const struct step_request *r)
{
    struct cache_conditions *s = arena_new(r->arena, struct cache_conditions);
    s->backend = r->backend;
    s->kernel = cpu_kernel_of(r->plan, r->step);
    s->memory = arena_array(r->arena, char *, r->plan->memory.count + 1);
    arena_init(&s->unpacked);
    give_memories(s, r);
    struct step_request request = *r;
    request.memory = s->memory;
    s->state = s->kernel->prepare(&request);
    if (s->state) {
        find_weights(s);
        s->has_near_results = are_results_near(s);
        return s;
    }
    cache_conditions_free(s);
    return NULL;
}
