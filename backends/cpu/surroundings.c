// Near caches are swept by reading more than they hold; operands are written in place, with what they had. Weights are
// flushed, or so many copies of them take turns that none is in a cache when its turn comes.
#include "backends/cpu/surroundings.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CACHE_LINE 64
#define PAGE 4096
#define WORTH_COOLING 16384             // bytes of weights
#define SHARE_OF_MEMORY 4   // of what is free, the part that copies may take
#define COLD_BYTES ((size_t)96 << 20)   // of copies of weights: more than the caches keep
#define MOST_COPIES 96
#define STEPS_SINCE_USE 2   // of the place of a result

struct span {
    char *at;
    size_t bytes;
};
typedef VEC(struct span) spans;

struct surroundings {
    struct cpu_backend *backend;
    const struct cpu_kernel *kernel;
    size_t n_memories;
    bool *is_weight;   // of each memory that the step reads
    spans operands, results, weights;
    size_t weight_bytes;
    bool has_near_results;
    int n_turns, next;
    struct turn turns[MOST_COPIES];
};

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

static bool give_memory(struct surroundings *s, const struct step_request *r, memory_id id, struct random *random)
{
    const struct plan_memory *m = &r->plan->memory.items[id];
    char **memory = s->turns[0].memory;
    if (memory[id])
        return false;
    memory[id] = arena_alloc(r->arena, bytes_of(m) + CACHE_LINE, CACHE_LINE);
    fill_memory(memory[id], m, random);
    return true;
}

static void give_operand(struct surroundings *s, const struct step_request *r, memory_id id, struct random *random)
{
    if (!give_memory(s, r, id, random))
        return;
    struct span span = {s->turns[0].memory[id], bytes_of(&r->plan->memory.items[id])};
    s->is_weight[id] = is_kept_memory(r->plan, id);
    if (s->is_weight[id])
        vec_push(&s->weights, span);
    else
        vec_push(&s->operands, span);
}

static void give_result(struct surroundings *s, const struct step_request *r, memory_id id, struct random *random)
{
    if (give_memory(s, r, id, random))
        vec_push(&s->results, ((struct span){s->turns[0].memory[id], bytes_of(&r->plan->memory.items[id])}));
}

// In the order in which they are written before each run.
static void give_memories(struct surroundings *s, const struct step_request *r)
{
    const struct step *step = r->step;
    struct random random = random_seed(1);
    for (int l = 0; l < step->n_loops; l++)
        for (int i = step->loops[l].n_operands; i-- > 0;)
            if (!(step->n_results && step->loops[l].operands[i].memory == step->results[0].memory))
                give_operand(s, r, step->loops[l].operands[i].memory, &random);
    for (int i = step->n_operands; i-- > 0;)
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
    size_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->items[i].bytes;
    return sum;
}

// The place of the results was in use until some steps before, which are taken to be as large as this one.
static bool are_results_near(const struct surroundings *s)
{
    size_t own = sum_of(&s->operands) + sum_of(&s->results) + sum_of(&s->weights);
    return (1 + STEPS_SINCE_USE) * own <= cpu_sweep_bytes(s->backend) / CPU_TIMES_SWEPT;
}

// Packed weights are read instead of those that they were made from.
static void find_weights(struct surroundings *s)
{
    char *packed = NULL;
    size_t bytes = s->kernel->weights ? s->kernel->weights(s->turns[0].state, &packed) : 0;
    if (bytes) {
        vec_clear(&s->weights);
        vec_push(&s->weights, ((struct span){packed, bytes}));
    }
    s->weight_bytes = sum_of(&s->weights);
    if (s->weight_bytes < WORTH_COOLING || s->backend->base.has_small_model)
        s->weight_bytes = 0;
}

// --- making it so ----------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
static void flush(const struct span *span)
{
    for (size_t at = 0; at < span->bytes; at += CACHE_LINE)
        _mm_clflush(span->at + at);
    _mm_mfence();
}
#else
static void flush(const struct span *span)
{
}
#endif

// By each thread, over a buffer of its own.
static void sweep_near_caches(struct cpu_backend *b)
{
    size_t bytes = cpu_sweep_bytes(b);
    volatile char *sink = b->sweep;
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int thread = 0; thread < b->threads; thread++)
        for (size_t at = 0; at < bytes; at += CACHE_LINE)
            (void)sink[(size_t)thread * bytes + at];
}

static void write_again(struct cpu_backend *b, const struct span *span)
{
    volatile char *bytes = span->at;
    int64_t n = (int64_t)(span->bytes / CACHE_LINE);
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t i = 0; i < n; i++)
        bytes[i * CACHE_LINE] = bytes[i * CACHE_LINE];
}

struct turn *surroundings_settle(struct surroundings *s)
{
    for (size_t i = 0; s->weight_bytes && s->n_turns == 1 && i < s->weights.count; i++)
        flush(&s->weights.items[i]);
    sweep_near_caches(s->backend);
    for (size_t i = 0; s->has_near_results && i < s->results.count; i++)
        write_again(s->backend, &s->results.items[i]);
    for (size_t i = 0; i < s->operands.count; i++)
        write_again(s->backend, &s->operands.items[i]);
    return &s->turns[s->next++ % s->n_turns];
}

// --- copies ----------------------------------------------------------------------------------------------------------

// With the same operands and results, and weights of its own.
static char **copy_memory(struct surroundings *s, const struct step_request *r)
{
    char **memory = arena_copy_array(r->arena, s->turns[0].memory, s->n_memories + 1);
    for (size_t id = 0; id < s->n_memories; id++) {
        size_t bytes = s->is_weight[id] ? bytes_of(&r->plan->memory.items[id]) : 0;
        if (!s->is_weight[id])
            continue;
        memory[id] = arena_alloc(r->arena, bytes + CACHE_LINE, CACHE_LINE);
        memcpy(memory[id], s->turns[0].memory[id], bytes);
    }
    return memory;
}

static bool add_turn(struct surroundings *s, const struct step_request *r, bool is_packed)
{
    struct turn turn = {.memory = is_packed ? s->turns[0].memory : copy_memory(s, r)};
    struct step_request request = *r;
    request.memory = turn.memory;
    turn.state = s->kernel->prepare(&request);
    if (turn.state)
        s->turns[s->n_turns++] = turn;
    return turn.state != NULL;
}

bool surroundings_multiply(struct surroundings *s, const struct step_request *r)
{
    char *packed;
    bool is_packed = s->kernel->weights && s->kernel->weights(s->turns[0].state, &packed);
    size_t wanted = s->weight_bytes ? COLD_BYTES / s->weight_bytes + 1 : 1;
    size_t room = s->weight_bytes ? mem_available() / SHARE_OF_MEMORY / s->weight_bytes : 0;
    wanted = wanted < room ? wanted : room;
    while ((size_t)s->n_turns < wanted && s->n_turns < MOST_COPIES)
        if (!add_turn(s, r, is_packed))
            break;
    return s->n_turns > 1;
}

// --- from beginning to end -------------------------------------------------------------------------------------------

void *surroundings_state(const struct surroundings *s)
{
    return s->turns[0].state;
}

size_t surroundings_weight_bytes(const struct surroundings *s)
{
    return s->weight_bytes;
}

void surroundings_free(struct surroundings *s)
{
    for (int i = 0; s->kernel->free && i < s->n_turns; i++)
        s->kernel->free(s->turns[i].state);
    vec_free(&s->operands);
    vec_free(&s->results);
    vec_free(&s->weights);
}

struct surroundings *surroundings_make(const struct step_request *r)
{
    struct surroundings *s = arena_new(r->arena, struct surroundings);
    s->backend = r->backend;
    s->kernel = (const struct cpu_kernel *)r->step->kernel;
    s->n_memories = r->plan->memory.count;
    s->is_weight = arena_array(r->arena, bool, s->n_memories + 1);
    s->turns[0].memory = arena_array(r->arena, char *, s->n_memories + 1);
    give_memories(s, r);
    struct step_request request = *r;
    request.memory = s->turns[0].memory;
    s->turns[0].state = s->kernel->prepare(&request);
    s->n_turns = s->turns[0].state != NULL;
    if (s->n_turns) {
        find_weights(s);
        s->has_near_results = are_results_near(s);
        return s;
    }
    surroundings_free(s);
    return NULL;
}
