// The cost of a step on the device.
//
// Policy (revision POLICY_REVISION in cuda.c): random data; activations as warm as the step itself leaves them; weights
// cold, as the layers of a model find them: in several copies that take turns, more than the cache holds (small ones in
// as many as a sample has launches, the cache being swept before each sample), but for small models, whose weights stay
// there. Launches are captured, as many as take 200 µs, and the graph is launched twice to warm up; then samples until
// the median is known to 3 %. Of a library's engines (engines.h) each is tried with a few samples, until PATIENCE in a
// row were no better or none can be, and the best is measured. The words of the best are kept with the cost, so that
// the same one runs in models. A tile whose results on these data are not those of another way is none of them. A
// kernel of fixed work before and after tells whether the clock changed by more than CLOCK_DRIFT: then all is done
// again.
#include "backends/cuda/measure.h"

#include "backends/costs/choices.h"
#include "backends/costs/sampling.h"
#include "backends/cuda/kernel_cache.h"
#include "backends/cuda/model.h"
#include "backends/cuda/roofline.h"
#include "backends/cuda/steps.h"
#include "backends/cuda/tiles.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>

#define SWEPT_CACHES 2   // how many times the cache, for what was there to be gone
#define MOST_ATTEMPTS 3
#define PATIENCE 4      // of engines and tiles that are no better, in a row
#define ALIGNMENT 256   // of what the device allocates
#define BLOCK_BYTES ((size_t)1 << 20)

struct measurement {
    struct cuda_backend *b;
    const struct plan *plan;
    const struct step *step;
    const choice_list *among;
    struct arena arena;
    struct rotation rotation;
    struct addresses *at;   // of each copy
    char *swept;            // memory that fills the cache; NULL: it need not be swept
    char **wanted;          // results without tiles, of each memory; NULL: not known yet
    VEC(char *) owned;
    struct error *error;
};

// --- memory ----------------------------------------------------------------------------------------------------------

static char *random_block(const struct plan_memory *memory, struct arena *arena)
{
    struct tensor_value block;
    struct random random = random_seed(1);
    int64_t n = (int64_t)(BLOCK_BYTES / dtype_size(memory->dtype));
    n = memory->elements < n ? memory->elements : n;
    block.type = type_make(memory->dtype, 1, &n);
    block.data = arena_alloc(arena, BLOCK_BYTES, 64);
    value_fill_random(&block, &random, 2);
    return block.data;
}

static bool fill_memory(struct measurement *m, memory_id id, char *device, size_t bytes)
{
    struct arena_mark mark = arena_mark(&m->arena);
    char *block = random_block(&m->plan->memory.items[id], &m->arena);
    bool is_filled = true;
    for (size_t at = 0; is_filled && at < bytes; at += BLOCK_BYTES)
        is_filled =
            m->b->api->upload(m->b->gpu, device + at, block, bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES);
    is_filled = is_filled && cuda_synchronize(m->b, m->error);
    arena_release(&m->arena, mark);
    return is_filled;
}

static char *make_memory(struct measurement *m, memory_id id, size_t bytes)
{
    char *device = cuda_allocate(m->b, bytes, m->error);
    if (!device)
        return NULL;
    vec_push(&m->owned, device);
    return fill_memory(m, id, device, bytes) ? device : NULL;
}

static size_t bytes_of(const struct measurement *m, memory_id id)
{
    const struct plan_memory *memory = &m->plan->memory.items[id];
    return mem_product((size_t)memory->elements, dtype_size(memory->dtype));
}

// One block for all copies.
static bool give_memory(struct measurement *m, memory_id id)
{
    size_t bytes = bytes_of(m, id);
    size_t distance = plan_keeps(m->plan, id) ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
    if (m->at[0].memory[id])
        return true;
    char *block = make_memory(m, id, distance ? mem_product((size_t)m->rotation.copies, distance) : bytes);
    for (int i = 0; block && i < m->rotation.copies; i++)
        m->at[i].memory[id] = block + (size_t)i * distance;
    return block != NULL;
}

static bool give_memories(struct measurement *m)
{
    bool is_done = true;
    for (struct touched_memory t = {0}; is_done && step_next_memory(m->step, &t);)
        is_done = give_memory(m, t.memory);
    return is_done;
}

static size_t bytes_of_weights(const struct measurement *m)
{
    const struct view *x = m->step->operands;
    return SUM_ALL(size_t, int, i, m->step->n_operands,
                   plan_keeps(m->plan, x[i].memory) ? bytes_of(m, x[i].memory) : 0);
}

struct rotation measure_rotation(size_t weight_bytes, size_t cache_bytes)
{
    size_t wanted = weight_bytes ? SWEPT_CACHES * cache_bytes / weight_bytes + 1 : 1;
    bool is_swept = wanted > MEASURE_MOST_LAUNCHES;
    return (struct rotation){is_swept ? MEASURE_MOST_LAUNCHES + 1 : (int)wanted, is_swept};
}

static bool give_copies(struct measurement *m)
{
    size_t bytes = m->b->base.measuring.has_small_model ? 0 : bytes_of_weights(m);
    m->rotation = measure_rotation(bytes, m->b->information.cache_bytes);
    m->at = arena_array(&m->arena, struct addresses, m->rotation.copies);
    for (int i = 0; i < m->rotation.copies; i++)
        m->at[i].memory = arena_array(&m->arena, char *, m->plan->memory.count + 1);
    if (!m->rotation.is_swept)
        return true;
    m->swept = cuda_allocate(m->b, SWEPT_CACHES * m->b->information.cache_bytes, m->error);
    if (m->swept)
        vec_push(&m->owned, m->swept);
    return m->swept != NULL;
}

// --- time ------------------------------------------------------------------------------------------------------------

static bool fail(const struct measurement *m)
{
    return error_set_code(m->error, EXIT_INTERNAL, NULL, "the kernel %s failed", m->step->kernel->name);
}

static bool launch_in_turns(const struct measurement *m, const struct prepared_step *s, int n)
{
    return ALL(int, i, n, step_launch(m->b, s, &m->at[i % m->rotation.copies]));
}

// The last copy, which has no other use, brings the activations back.
static bool sweep_cache(const struct measurement *m, const struct prepared_step *s)
{
    return !m->swept || (m->b->api->fill(m->b->gpu, m->swept, 0, SWEPT_CACHES * m->b->information.cache_bytes) &&
                         step_launch(m->b, s, &m->at[m->rotation.copies - 1]));
}

// Seconds of n launches, or of a graph of them.
static bool time_launches(const struct measurement *m, const struct prepared_step *s, struct gpu_graph *graph, int n,
                          double *ret_seconds)
{
    const struct gpu_api *api = m->b->api;
    if (!sweep_cache(m, s))
        return fail(m);
    api->note_moment(m->b->gpu, 0);
    if (!(graph ? api->launch_graph(m->b->gpu, graph) : launch_in_turns(m, s, n)))
        return fail(m);
    api->note_moment(m->b->gpu, 1);
    return cuda_synchronize(m->b, m->error) && (api->seconds_between(m->b->gpu, 0, 1, ret_seconds) || fail(m));
}

struct turns {
    const struct measurement *m;
    const struct prepared_step *step;
    int n;
};

static bool launch_all_turns(void *context)
{
    const struct turns *t = context;
    return launch_in_turns(t->m, t->step, t->n);
}

// Copies take turns where a launch is short: a long one does not feel whether its weights are in the cache.
static int count_launches(const struct measurement *m, double once)
{
    int launches = (int)fmin(MEASURE_MOST_LAUNCHES, ceil(SAMPLE_SECONDS / (once + 1e-7)));
    bool takes_turns = launches > 1 && !m->swept && launches < m->rotation.copies;
    return takes_turns ? m->rotation.copies : launches;
}

static bool take_samples(const struct measurement *m, const struct prepared_step *s, size_t most, double best,
                         struct step_cost *ret_cost)
{
    struct samples samples = {.n_all = 0};
    double once;
    if (!time_launches(m, s, NULL, 1, &once) || !time_launches(m, s, NULL, 1, &once))
        return false;
    ret_cost->seconds = once;
    if (once > HOPELESS * best + MEASURED_LAUNCH_SECONDS)
        return true;
    int launches = count_launches(m, once);
    struct gpu_graph *graph = cuda_capture(m->b, launch_all_turns, &(struct turns){m, s, launches});
    bool is_done = time_launches(m, s, graph, launches, &once) && time_launches(m, s, graph, launches, &once);
    double start = clock_seconds();
    while (is_done && !samples_suffice(&samples, most, INFINITY) &&
           (samples.n_all < LEAST_SAMPLES || clock_seconds() - start <= m->b->base.options.seconds_per_step)) {
        is_done = time_launches(m, s, graph, launches, &once);
        samples_add(&samples, once / launches, true);
    }
    if (graph)
        m->b->api->free_graph(graph);
    if (!is_done)
        return false;
    struct step_cost cost = samples_cost(&samples, true);
    ret_cost->seconds = cost.seconds;
    ret_cost->spread = cost.spread;
    return true;
}

// --- tiles -----------------------------------------------------------------------------------------------------------
//
// Libraries are believed. A tile is believed where it gives what the step gives without tiles, on the same data.

// Before a run: so that what is not written is seen. What the step itself reads there stays (parts of a concatenation).
static bool poison(struct measurement *m, memory_id id)
{
    bool is_read = ANY(int, i, m->step->n_operands, m->step->operands[i].memory == id);
    return is_read ? fill_memory(m, id, m->at[0].memory[id], bytes_of(m, id))
                   : m->b->api->fill(m->b->gpu, m->at[0].memory[id], 0xff, bytes_of(m, id));
}

// NULL: it failed.
static char *results_in(struct measurement *m, const struct prepared_step *s, memory_id id)
{
    char *results = arena_alloc(&m->arena, bytes_of(m, id), 64);
    bool is_done = poison(m, id) && step_launch(m->b, s, &m->at[0]) && cuda_synchronize(m->b, m->error) &&
                   m->b->api->download(m->b->gpu, results, m->at[0].memory[id], bytes_of(m, id));
    return is_done ? results : NULL;
}

static bool find_wanted(struct measurement *m)
{
    struct prepared_step s;
    ARENA(arena);
    if (m->wanted)
        return true;
    if (!step_prepare(m->b, m->plan, m->step, "", &arena, &s, m->error))
        return false;
    m->wanted = arena_array(&m->arena, char *, m->plan->memory.count + 1);
    for (struct touched_memory t = {0}; step_next_memory(m->step, &t);)
        if (t.is_written && !m->wanted[t.memory])
            m->wanted[t.memory] = results_in(m, &s, t.memory);
    step_release(m->b, &s);
    return true;
}

// The largest, as a share of the largest entry; infinity where something is no number, or nothing was written.
static double difference(enum dtype dtype, const char *got, const char *wanted, size_t n)
{
    static const char untouched[] = {-1, -1, -1, -1, -1, -1, -1, -1};
    size_t size = dtype_size(dtype);
    double most = 0, largest = 0;
    bool is_written = false;
    for (size_t i = 0; i < n; i++) {
        const char *a = got + i * size, *b = wanted + i * size;
        double x, y;
        if (memcmp(a, untouched, size) == 0 && memcmp(b, untouched, size) == 0)
            continue;
        elements_to_reals(dtype, a, 1, &x);
        elements_to_reals(dtype, b, 1, &y);
        if (!isfinite(x) || !isfinite(y))
            return INFINITY;
        is_written = true;
        most = fmax(most, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    return !is_written ? INFINITY : most > 0 ? most / largest : 0;
}

static double allowed_difference(const struct measurement *m)
{
    bool is_half = false, is_bfloat = false;
    for (struct touched_memory t = {0}; step_next_memory(m->step, &t);) {
        is_half |= m->plan->memory.items[t.memory].dtype == DTYPE_F16;
        is_bfloat |= m->plan->memory.items[t.memory].dtype == DTYPE_BF16;
    }
    return is_bfloat                                   ? TILE_ERROR_BF16
           : is_half || m->b->base.options.allows_tf32 ? TILE_ERROR_ROUNDED
                                                       : TILE_ERROR_F32;
}

static bool gives_what_is_wanted(struct measurement *m, const struct prepared_step *s, const char *tile)
{
    double off = find_wanted(m) ? 0 : INFINITY;
    struct arena_mark mark = arena_mark(&m->arena);
    for (struct touched_memory t = {0}; off < INFINITY && step_next_memory(m->step, &t);) {
        const struct plan_memory *memory = &m->plan->memory.items[t.memory];
        const char *wanted = m->wanted[t.memory], *got = t.is_written ? results_in(m, s, t.memory) : NULL;
        if (t.is_written)
            off =
                fmax(off, wanted && got ? difference(memory->dtype, got, wanted, (size_t)memory->elements) : INFINITY);
    }
    arena_release(&m->arena, mark);
    if (off <= allowed_difference(m))
        return true;
    TEXT(text);
    step_print(&text, m->plan, m->step);
    log_warning(m->b->base.options.log, "%s by %s is off by %.3g of its largest entry: not taken", text.chars, tile,
                off);
    return error_set_code(m->error, EXIT_INTERNAL, NULL, "a tile's results are wrong");
}

// False also where `choice` cannot be had and something else would run, or computes something else.
static bool time_choice(void *context, const char *choice, size_t most, double best, struct step_cost *ret_cost)
{
    struct measurement *m = context;
    struct prepared_step s;
    struct kernel_tile tile;
    ARENA(arena);
    bool is_done = step_prepare(m->b, m->plan, m->step, choice, &arena, &s, m->error);
    if (is_done) {
        step_choice(m->b, m->step, &s, ret_cost->choice, sizeof ret_cost->choice);
        is_done = (!*choice || strcmp(choice, ret_cost->choice) == 0) &&
                  (!kernel_tile_parse(choice, &tile) || gives_what_is_wanted(m, &s, choice)) &&
                  take_samples(m, &s, most, best, ret_cost);
        step_release(m->b, &s);
    }
    return is_done;
}

// --- the clock -------------------------------------------------------------------------------------------------------

// A loop of fixed work on data in the cache, long beside a launch: what it takes depends on the clock alone.
static bool time_sentinel(const struct measurement *m, double *ret_seconds)
{
    struct kernel_text k FREED_BY(kernel_text_free) = {.threads = 256, .blocks = 1};
    TEXT(text);
    int pointer;
    kernel_add_pointer(&k, (struct kernel_pointer){0, DTYPE_F32, 0, true}, &pointer);
    text_add(&k.body, "THREADS(t) {\nreal v = a0[t];\nfor (int i = 0; i < 65536; i++) v = v * (real)0.5 + (real)1;\n"
                      "a0[t] = v;\n}\n");
    kernel_text_finish(&k, m->b->api->prelude, &text);
    struct gpu_kernel *kernel = kernel_cache_find(m->b->kernels, text.chars, m->error);
    void *addresses[] = {m->at[0].scratch};
    bool is_done = kernel != NULL;
    for (int i = 0; is_done && i < 3; i++) {
        m->b->api->note_moment(m->b->gpu, 0);
        is_done = m->b->api->launch(m->b->gpu, kernel, 1, 256, 1, addresses);
        m->b->api->note_moment(m->b->gpu, 1);
        is_done =
            is_done && cuda_synchronize(m->b, m->error) && m->b->api->seconds_between(m->b->gpu, 0, 1, ret_seconds);
    }
    return is_done;
}

static bool measure_steadily(struct measurement *m, double least, struct step_cost *ret_cost)
{
    struct choice_limits limits = {1.03 * cuda_least(&m->b->base, m->plan, m->step), PATIENCE};
    struct step_cost ignored;
    const char *best = choices_find_best(m->among, least, &limits, time_choice, m, &ignored);
    double before, after;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        if (!time_sentinel(m, &before) || !time_choice(m, best, MOST_SAMPLES, INFINITY, ret_cost) ||
            !time_sentinel(m, &after))
            return false;
        if (fabs(after - before) <= CLOCK_DRIFT * before)
            return true;
    }
    log_warning(m->b->base.options.log, "the device's clock is not steady: %.3g and %.3g s for the same work", before,
                after);
    return true;
}

// --- the whole -------------------------------------------------------------------------------------------------------

// Enough for any step: a library's workspace, or the unrounded stages of the largest definition.
static size_t bytes_of_scratch(const struct measurement *m)
{
    ARENA(arena);
    struct generated_kernels kernels = {.scratch_bytes = 0};
    step_generate(m->plan, m->step, "", m->b->api->prelude, &arena, &kernels);
    vec_free(&kernels.list);
    return kernels.scratch_bytes > GPU_WORKSPACE_BYTES ? kernels.scratch_bytes : GPU_WORKSPACE_BYTES;
}

static bool give_scratch(struct measurement *m)
{
    char *scratch = cuda_allocate(m->b, bytes_of_scratch(m), m->error);
    for (int i = 0; i < m->rotation.copies; i++)
        m->at[i].scratch = scratch;
    if (scratch)
        vec_push(&m->owned, scratch);
    return scratch != NULL;
}

// The first choices are tried, whatever they take.
void cuda_make_ready(struct backend *backend, const struct plan *plan, const struct step *step,
                     const choice_list *among, bool is_now)
{
    struct cuda_backend *b = (struct cuda_backend *)backend;
    for (size_t i = 0; i < among->count && i <= PATIENCE; i++)
        step_expect(b, plan, step, among->items[i].text);
    if (is_now)
        kernel_cache_make_expected(b->kernels);
}

bool cuda_measure(struct backend *backend, const struct plan *plan, const struct step *step, const choice_list *among,
                  double best, struct step_cost *ret_cost, struct error *error)
{
    struct measurement m = {
        .b = (struct cuda_backend *)backend, .plan = plan, .step = step, .among = among, .error = error};
    *ret_cost = (struct step_cost){0};
    bool is_done = give_copies(&m) && give_memories(&m) && give_scratch(&m) && measure_steadily(&m, best, ret_cost);
    for (size_t i = 0; i < m.owned.count; i++)
        m.b->api->release(m.b->gpu, m.owned.items[i]);
    vec_free(&m.owned);
    arena_free(&m.arena);
    return is_done;
}
