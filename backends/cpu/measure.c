// The cost of a step: it is prepared alone, over random data, and run until its time is known.
//
// Before each run its surroundings are made as a model leaves them (cache_conditions.h). One run is a sample. Samples
// during which other programs came between (core/system/clock.h), or beside which a piece of known work took longer
// than usual, do not count. The cost is the lower quartile of the others, as what is still added to some of them was
// not the step's; sampling ends when their median is known to 3 %, or when the time for a step is spent. A cost with
// too few samples that count is doubtful. Of long steps, which scatter little, two samples that agree are enough, the
// run that warms up is one, and ways are told apart by an excerpt (cpu_excerpt).
//
// A step that is bound by reading its weights is taken as a share of a read of known size that alternates with it
// (memory_probe.h), as what memory gives one core changes by half within seconds.
#include "backends/cpu/measure.h"

#include "backends/costs/choices.h"
#include "backends/costs/sampling.h"
#include "backends/cpu/cache_conditions.h"
#include "backends/cpu/loops/kernel_scope.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/memory_probe.h"
#include "backends/cpu/result_error.h"
#include "backends/cpu/ways.h"
#include "backends/limits.def"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Parallel regions without work that are timed before the first measurement, and what is too long for one.
#define MEETINGS 64
#define WARM_UP_RUNS 2
#define MOST_BUDGETS 3                       // of time, where too few samples count
#define BUDGETS_WHEN_BOUND 2                 // of time: these samples scatter more
#define SENTINEL_ROUNDS 4000                 // of known work: some 4 us
#define MOST_KEPT_BYTES ((size_t)32 << 20)   // between steps

struct measurement {
    struct cpu_backend *backend;
    const struct cpu_kernel *kernel;
    struct memory_probe *probe;   // of a step that is bound by its weights, else NULL
    struct cache_conditions *around;
    char *scratch;
};

// --- one sample ------------------------------------------------------------------------------------------------------

// A chain of multiplications: nothing but the processor's speed decides how long it takes.
static bool is_sentinel_slow(struct cpu_backend *b)
{
    uint64_t x = 1;
    double start = clock_seconds();
    for (int i = 0; i < SENTINEL_ROUNDS; i++)
        x = x * 6364136223846793005u + (uint64_t)i;
    double seconds = clock_seconds() - start;
    b->sentinel_result = x;
    if (b->shortest_sentinel == 0 || seconds < b->shortest_sentinel)
        b->shortest_sentinel = seconds;
    return seconds > SLOW_SENTINEL * b->shortest_sentinel;
}

static bool run_kernel(const struct measurement *s)
{
    struct execution e = {.memory = cache_conditions_memory(s->around), .scratch = s->scratch};
    return s->kernel->run(cache_conditions_state(s->around), &e);
}

// False also where an end is asked for: one run may take minutes.
static bool run_once(struct measurement *s, struct lap *ret_lap)
{
    struct stopwatch watch;
    bool is_alone = s->backend->threads == 1;
    if (interrupt_requested())
        return false;
    cache_conditions_settle(s->around);
    bool is_slow = is_sentinel_slow(s->backend);
    stopwatch_start(&watch, is_alone);
    bool is_done = run_kernel(s);
    *ret_lap = stopwatch_stop(&watch, is_alone);
    ret_lap->is_disturbed = is_sentinel_slow(s->backend) || is_slow || ret_lap->is_disturbed;
    return is_done;
}

static bool take_sample(struct measurement *s, struct samples *samples)
{
    struct lap lap, read = {.seconds = 1};
    if (s->probe)
        read = memory_probe_read(s->probe);
    double share = s->probe ? memory_probe_usual(s->probe) / read.seconds : 1;
    if (!run_once(s, &lap))
        return false;
    samples_add(samples, share * lap.seconds, !lap.is_disturbed && !read.is_disturbed);
    return true;
}

// --- all of them -----------------------------------------------------------------------------------------------------

static bool warm_up(struct measurement *s, struct lap *ret_shortest)
{
    double sum = 0;
    *ret_shortest = (struct lap){.seconds = INFINITY};
    for (int i = 0; i < WARM_UP_RUNS && sum < WARM_UP_SECONDS; i++) {
        struct lap lap;
        if (!run_once(s, &lap))
            return false;
        *ret_shortest = lap.seconds < ret_shortest->seconds ? lap : *ret_shortest;
        sum += lap.seconds;
    }
    return true;
}

double cpu_sampling_limit(double patience, double budget, bool is_disturbed)
{
    return budget + (is_disturbed ? fmin((MOST_BUDGETS - 1) * budget, fmax(0, patience)) : 0);
}

double cpu_patience_after(double patience, double budget, double spent)
{
    return fmin(SECONDS_OF_PATIENCE, patience + SHARE_OF_PATIENCE * budget - fmax(0, spent - budget));
}

// With several threads there is no patience: what one of them takes by itself is asked then (measure_share_too).
static double patience_of(const struct cpu_backend *b)
{
    return b->threads > 1 ? 0 : b->patience;
}

static bool sample(struct measurement *s, const struct step_request *r, size_t most, double best,
                   struct step_cost *ret_cost)
{
    struct samples samples = {.n_all = 0};
    bool is_hasty = r->backend->base.measuring.is_hasty;
    double spent = 0;
    struct lap shortest;
    double budget = r->backend->base.options.seconds_per_step * (is_hasty ? SHARE_IN_HASTE : 1);
    if (!warm_up(s, &shortest))
        return false;
    double fewest = is_hasty ? fmin(FEWEST_SAMPLES, ceil(budget / shortest.seconds)) : FEWEST_SAMPLES;
    if ((double)cache_conditions_weight_bytes(s->around) > BOUND_BYTES_PER_SECOND * shortest.seconds) {
        s->probe = memory_probe_of(r->backend);
        budget *= BUDGETS_WHEN_BOUND;
    } else if (shortest.seconds >= LONG_RUN)
        samples_add(&samples, shortest.seconds, !shortest.is_disturbed);
    double start = clock_seconds();
    do {   // once at least: the first run may have been long for being the first
        if (!take_sample(s, &samples))
            return false;
        spent = clock_seconds() - start;
    } while (!samples_suffice(&samples, most, best) &&
             ((double)samples.n_all < fewest ||
              spent <= cpu_sampling_limit(patience_of(r->backend), budget, !samples_are_quiet(&samples))));
    r->backend->patience = cpu_patience_after(r->backend->patience, budget, spent);
    *ret_cost = samples_cost(&samples, s->probe != NULL);   // shares of a read err both ways
    ret_cost->is_hurried = is_hasty && !samples_suffice(&samples, most, best);
    return true;
}

static bool sample_in_peace(struct measurement *s, const struct step_request *r, size_t most, double best,
                            struct step_cost *ret_cost)
{
    double start = clock_seconds(), stolen = clock_stolen_seconds();
    if (!sample(s, r, most, best, ret_cost))
        return false;
    stolen = clock_stolen_seconds() - stolen;
    if (stolen > MOST_STOLEN * (clock_seconds() - start))
        ret_cost->is_doubtful = true;
    return true;
}

// Memory fresh from the system would be cleared for each step. Where there is little it is given back.
static void empty_memory(struct cpu_backend *b)
{
    size_t most = mem_available() / 16;
    arena_release(&b->measured, (struct arena_mark){0});
    if (b->measured.total > (most < MOST_KEPT_BYTES ? most : MOST_KEPT_BYTES))
        arena_free(&b->measured);
}

// One step, to be run in one way.
struct subject {
    struct cpu_backend *backend;
    const struct plan *plan;
    const struct step *step;
    const choice_list *among;
    double best;   // seconds that it takes in other ways
    struct error *error;
};

// False also where the choice cannot be had.
static bool time_choice(void *context, const char *choice, size_t most, double best, struct step_cost *ret_cost)
{
    const struct subject *subject = context;
    struct cpu_backend *b = subject->backend;
    struct step step = *subject->step;
    step.way.choice = choice;
    struct measurement s = {.backend = b, .kernel = cpu_kernel_of(subject->plan, &step)};
    struct step_request r = {b, subject->plan, &step, NULL, &b->measured, subject->error};
    s.around = cache_conditions_make(&r);
    bool is_done = s.around != NULL;
    if (is_done) {
        size_t scratch_bytes = s.kernel->scratch_bytes ? s.kernel->scratch_bytes(cache_conditions_state(s.around)) : 0;
        s.scratch = arena_alloc(&b->measured, scratch_bytes + 64, 64);
        is_done = sample_in_peace(&s, &r, most, best, ret_cost);
        if (!is_done)
            error_set_code(r.error, EXIT_INTERNAL, NULL, "the kernel %s failed", s.kernel->base.name);
        cache_conditions_free(s.around);
    }
    empty_memory(b);
    onednn_forget_primitives();
    return is_done;
}

// A trial of all of a long step whose samples agree need not be repeated.
static bool measure(const struct subject *subject, struct step_cost *ret_cost)
{
    struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(subject->backend));
    struct excerpt excerpt;
    struct subject trial = *subject;
    trial.step = cpu_excerpt(subject->backend, subject->plan, subject->step, &excerpt);
    trial.best *= excerpt.share;
    const char *choice =
        choices_find_best(subject->among, trial.best, &(struct choice_limits){0}, time_choice, &trial, ret_cost);
    bool is_known = trial.step == subject->step && ret_cost->seconds >= LONG_RUN && isfinite(ret_cost->seconds) &&
                    ret_cost->spread <= WANTED_UNCERTAINTY;
    bool is_done = is_known || time_choice((void *)subject, choice, MOST_SAMPLES, subject->best, ret_cost);
    kernel_scope_end(&scope);
    snprintf(ret_cost->choice, sizeof ret_cost->choice, "%s", choice);
    return is_done;
}

// A share is taken where threads wait for each other and other programs take processors from them: hardly a run is
// whole, and a step of 50 us takes a time slice. What one thread takes is known by its own processor time: a share of
// it for each thread is a doubtful cost that errs by what threads do not gain, and not by a hundred times: a fifth
// where two of them read weights of 1 MB.
static bool measure_share(const struct subject *subject, struct step_cost *ret_cost)
{
    struct cpu_backend *b = subject->backend;
    struct subject alone = *subject;
    int threads = b->threads;
    cpu_sweep_bytes(b);   // are there for all threads
    cpu_set_threads(b, 1);
    alone.best *= threads;
    bool is_done = measure(&alone, ret_cost);
    cpu_set_threads(b, threads);
    ret_cost->seconds /= threads;
    ret_cost->is_doubtful = ret_cost->is_hurried = true;
    return is_done;
}

// Other programs only make runs longer, by time slices mostly: a shortest run with all threads that takes little more
// than the share was a whole one, and has what they do not gain.
double cpu_seconds_beside_others(double shortest, double share)
{
    return shortest <= MOST_NOT_GAINED * share + MEETING_SECONDS ? shortest : share;
}

static bool measure_share_too(const struct subject *subject, struct step_cost *ret_cost)
{
    double shortest = ret_cost->seconds;
    if (!measure_share(subject, ret_cost))
        return false;
    ret_cost->seconds = cpu_seconds_beside_others(shortest, ret_cost->seconds);
    ret_cost->is_hurried = ret_cost->seconds != shortest;
    return true;
}

static void meet(void *argument, int part, int parts)
{
}

// Threads that wait for each other by spinning are at the mercy of whoever else runs: one that lost its processor keeps
// all others waiting for a time slice.
static bool meet_slowly(const struct cpu_backend *b)
{
    double start = clock_seconds();
    for (int i = 0; b->threads > 1 && i < MEETINGS; i++) {
        parallel_for(NULL, b->threads, meet, NULL);
        if (clock_seconds() - start > MEETINGS * BUSY_SECONDS)
            return true;
    }
    return false;
}

// Do other programs disturb the threads just now? Warns once if they do.
static bool is_busy(struct cpu_backend *b)
{
    bool is_so = meet_slowly(b);
    if (is_so && !b->has_warned)
        log_warning(b->base.options.log,
                    "this machine is busy: times of %d threads mean little, and costs measured now are doubtful; try "
                    "--threads 1 or OMP_WAIT_POLICY=passive",
                    b->threads);
    b->has_warned = b->has_warned || is_so;
    return is_so;
}

static bool measure_beside_others(const struct subject *subject, struct step_cost *ret_cost)
{
    struct cpu_backend *b = subject->backend;
    if (b->threads == 1)
        return measure(subject, ret_cost);
    if (is_busy(b))
        return measure_share(subject, ret_cost);
    if (!measure(subject, ret_cost))
        return false;
    bool is_doubted = ret_cost->is_doubtful && !b->base.measuring.is_hasty;   // in haste a disturbed run has to do
    return !(is_doubted || is_busy(b)) || measure_share_too(subject, ret_cost);
}

// Errors of choices that gain nothing are not looked for, as they will not be taken; nor those that are known.
static bool find_error(const struct subject *subject, const struct step_cost *near, struct step_cost *ret_cost)
{
    struct excerpt excerpt;
    const struct step *step = cpu_excerpt(subject->backend, subject->plan, subject->step, &excerpt);
    struct step_request r = {subject->backend, subject->plan, step, NULL, NULL, subject->error};
    struct result_error found = {.excess = 1};
    bool is_done = true, is_known = near->error > 0 && near->error < 1 && strcmp(near->choice, ret_cost->choice) == 0;
    struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(subject->backend));
    if (ret_cost->seconds < subject->best && !is_known)
        is_done = cpu_result_error(&r, ret_cost->choice, &found);
    kernel_scope_end(&scope);
    ret_cost->error = is_known ? near->error : found.excess;
    onednn_forget_primitives();
    return is_done;
}

bool cpu_measure(struct backend *backend, const struct plan *plan, const struct step *step, const choice_list *among,
                 double best, struct step_cost *ret_cost, struct error *error)
{
    struct subject subject = {(struct cpu_backend *)backend, plan, step, among, best, error};
    const struct step_cost near = *ret_cost;
    return measure_beside_others(&subject, ret_cost) &&
           (among->items[0].precision == PRECISION_EXACT || find_error(&subject, &near, ret_cost));
}
