// The optimizer writes a compiled model. A session in which that stands for all nodes is run by turns with the other
// one on the same inputs: random numbers, and zeros where entries are integers, which may be places. Its kernels run on
// the threads of a session there, as they will: what they take on threads of their own does not hold in sessions.
#include "provider/variant.h"

#include "core/numbers/paired_ratios.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "expressions/value.h"
#include "optimizer/limits.def"
#include "optimizer/run/comparison.h"
#include "provider/context_node.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- compiling -------------------------------------------------------------------------------------------------------

#define SHARE_OF_SEARCH                                                                                                \
    0.9   // of the time for compiling; in the rest costs that are not known yet may still be measured

// Shapes of inputs that have symbols. False: too many of them.
static bool add_shapes(const struct variant *v, taso_options *o, struct arena *arena)
{
    struct option_list *shapes = &o->arguments.optimize.shapes;
    const int64_t *dims = v->dims;
    for (size_t i = 0; i < v->model->inputs.count; dims += v->model->inputs.items[i++].form.rank) {
        const char *shape = model_value_shape(&v->model->inputs.items[i], dims, arena);
        if (shape && shapes->count == sizeof shapes->items / sizeof *shapes->items)
            return false;
        if (shape)
            shapes->items[shapes->count++] = shape;
    }
    return true;
}

static int is_late(void *context)
{
    const struct variant *v = context;
    return clock_seconds() > v->ends;
}

static bool compile(const struct runtime *r, struct variant *v, bool is_exact, double seconds, struct error *error)
{
    ARENA(arena);
    taso_options options = *v->options;
    taso_error failure;
    options.arguments.optimize.is_exact = is_exact;
    options.arguments.optimize.seconds = SHARE_OF_SEARCH * seconds;
    options.arguments.is_timed = options.arguments.is_checked = false;   // ONNX Runtime is what it is held to
    double began = clock_seconds();
    v->ends = began + seconds;
    taso_options_set_progress(&options, is_late, v);
    bool is_done = add_shapes(v, &options, &arena);
    if (!is_done)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "too many inputs of unknown sizes");
    else if (taso_optimize_file(&options, v->model->file.path, v->path, NULL, &failure) != TASO_DONE)
        is_done = error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s%s%s", failure.file, *failure.file ? ": " : "",
                                 failure.message);
    if (is_done)
        runtime_log(r, "taso: searching and packing have taken %.1f s, of which searching may take %.1f",
                    clock_seconds() - began, options.arguments.optimize.seconds);
    return is_done;
}

// --- both sessions ---------------------------------------------------------------------------------------------------

enum { THEIRS, OURS };
struct trial {
    struct arena arena;
    const struct runtime *runtime;
    struct cpu_session own;
    const struct cpu_session *sessions[2];
    OrtValue **inputs, **outputs[2];
    struct model_inputs given;   // what the inputs hold
    uint64_t seed;
    double of_run;     // seconds of one of theirs
    bool is_doubted;   // ours gave other results, or any results would have been the same
};

// All entries as one row.
static bool read_tensor(const struct runtime *r, OrtValue *value, struct tensor_value *ret_tensor)
{
    struct tensor_form form;
    if (!runtime_read_value(r, value, &form) ||
        !runtime_is_done(r, r->api->GetTensorMutableData(value, &ret_tensor->data)))
        return false;
    ret_tensor->type = type_make(dtype_from_onnx(form.element_type), 1, (int64_t[]){(int64_t)form.count});
    return true;
}

static bool make_input(struct trial *t, const struct model_value *v, const int64_t *dims, size_t index)
{
    const OrtApi *api = t->runtime->api;
    enum ONNXTensorElementDataType type = (enum ONNXTensorElementDataType)v->form.element_type;
    OrtAllocator *allocator;
    return runtime_is_done(t->runtime, api->GetAllocatorWithDefaultOptions(&allocator)) &&
           runtime_is_done(t->runtime, api->CreateTensorAsOrtValue(allocator, dims, (size_t)v->form.rank, type,
                                                                   &t->inputs[index])) &&
           read_tensor(t->runtime, t->inputs[index], &t->given.values[index]) &&
           dtype_has_numbers(t->given.values[index].type.dtype);
}

static void fill_inputs(struct trial *t, int attempt)
{
    for (size_t i = 0; i < t->given.count; i++) {
        struct random random = random_seed(t->seed + i);
        value_fill_random(&t->given.values[i], &random, 1);
    }
    model_inputs_vary(&t->given, attempt);
}

static bool run(const struct trial *t, int who, struct error *error)
{
    const struct cpu_session *s = t->sessions[who];
    return runtime_is_done(t->runtime, cpu_session_run(s, (const OrtValue *const *)t->inputs, t->outputs[who])) ||
           error_set_code(error, EXIT_UNSUPPORTED, NULL, "it fails on random inputs");
}

static void release_all(const struct trial *t, OrtValue **values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i])
            t->runtime->api->ReleaseValue(values[i]);
    memset(values, 0, n * sizeof *values);
}

static void release_outputs(const struct trial *t, int who)
{
    release_all(t, t->outputs[who], t->sessions[THEIRS]->n_outputs);
}

// The other session has run.
static bool trial_make(struct trial *t, const struct variant *v, const struct cpu_session *theirs, uint64_t seed,
                       struct error *error)
{
    size_t n = theirs->n_inputs;
    *t = (struct trial){.runtime = theirs->runtime, .sessions = {theirs, &t->own}, .seed = seed};
    t->inputs = arena_array(&t->arena, OrtValue *, n + 1);
    t->given = (struct model_inputs){n, arena_array(&t->arena, struct tensor_value, n + 1)};
    for (int i = 0; i < 2; i++)
        t->outputs[i] = arena_array(&t->arena, OrtValue *, theirs->n_outputs + 1);
    const int64_t *dims = v->dims;
    for (size_t i = 0; i < n; dims += v->model->inputs.items[i++].form.rank)
        if (!make_input(t, &v->model->inputs.items[i], dims, i))
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "ONNX Runtime makes no input for it");
    fill_inputs(t, 0);
    bool is_done = true;
    for (int i = 0; i < 2 && is_done; i++) {   // the first one is slower
        double start = clock_seconds();
        is_done = run(t, THEIRS, error);
        t->of_run = clock_seconds() - start;
    }
    release_outputs(t, THEIRS);
    return is_done;
}

static void trial_end(struct trial *t)
{
    release_all(t, t->inputs, t->sessions[THEIRS]->n_inputs);
    release_outputs(t, OURS);
    release_outputs(t, THEIRS);
    cpu_session_close(&t->own);
    arena_free(&t->arena);
}

// --- the same results? -----------------------------------------------------------------------------------------------

static struct output_comparison compare_output(const struct trial *t, size_t i, int attempt, double tolerance)
{
    struct tensor_value a, b;
    struct output_comparison o = {0};
    if (!read_tensor(t->runtime, t->outputs[THEIRS][i], &a) || !read_tensor(t->runtime, t->outputs[OURS][i], &b))
        return o;
    bool is_half = a.type.dtype == DTYPE_F16 || a.type.dtype == DTYPE_BF16;
    o = output_compare(&a, &b, attempt > 0);
    o.is_equal_enough = output_is_within(&o, is_half ? fmax(tolerance, TOLERANCE_OF_HALVES) : tolerance);
    return o;
}

// False: one is not ONNX Runtime's.
static bool compare_outputs(struct trial *t, int attempt, double tolerance, output_comparisons *ret_outputs,
                            struct error *error)
{
    vec_clear(ret_outputs);
    for (size_t i = 0; i < t->own.n_outputs; i++) {
        vec_push(ret_outputs, compare_output(t, i, attempt, tolerance));
        t->is_doubted = !vec_last(ret_outputs).is_equal_enough;
        if (t->is_doubted)
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "output %s is not ONNX Runtime's",
                                  t->own.output_names[i]);
    }
    return true;
}

// Runs are compared by other inputs while outputs are such that nearly anything would agree. Those at which ONNX
// Runtime itself fails, as numbers may be sizes or places, tell nothing.
static bool compare_runs(struct trial *t, double tolerance, output_comparisons *all, struct error *error)
{
    LOCAL_LIST(output_comparisons, more);
    struct error ignored;
    double ends = clock_seconds() + SECONDS_OF_ATTEMPTS;
    bool is_same = true, is_enough = false;
    for (int attempt = 0; is_same && !is_enough && attempt < INPUT_ATTEMPTS; attempt++) {
        fill_inputs(t, attempt);
        if (run(t, THEIRS, attempt ? &ignored : error)) {
            is_same = run(t, OURS, error) && compare_outputs(t, attempt, tolerance, attempt ? &more : all, error);
            outputs_merge(all, &more);
        } else
            is_same = attempt > 0;
        is_enough = outputs_are_trustworthy(all) || clock_seconds() > ends;
        release_outputs(t, OURS);
        release_outputs(t, THEIRS);
    }
    fill_inputs(t, 0);
    return is_same;
}

// The session that this thread opens one of ONNX Runtime's around: the file is read once for both.
static _Thread_local taso_session *on_trial;

static bool open_around(struct trial *t, const struct variant *v, struct error *error)
{
    int threads = (int)v->options->arguments.optimize.threads;
    const char *path = arena_printf(&t->arena, "%s.onnx", v->path);
    on_trial = v->idle[0];
    bool is_open = context_node_write_model(v->model, v->path, path, error) &&
                   cpu_session_open(&t->own, t->runtime, v->model, path, threads, &t->arena, error);
    on_trial = NULL;
    return is_open;
}

// The file in a session like the one that is to run it, so that what is timed is what will be. What was proved needs no
// outputs that say something, kernels that lose digits do.
static bool has_same_results(struct trial *t, struct variant *v, bool is_exact, struct error *error)
{
    LOCAL_LIST(output_comparisons, all);
    if (!variant_open(v, error) || !open_around(t, v, error) ||
        !compare_runs(t, v->options->arguments.optimize.tolerance, &all, error))
        return false;
    if (is_exact || outputs_are_trustworthy(&all))
        return true;
    t->is_doubted = true;
    return error_set_code(error, EXIT_UNSUPPORTED, NULL, "its outputs say nothing on random inputs");
}

// --- the contest -----------------------------------------------------------------------------------------------------

enum { MOST_ROUNDS = 180, LEAST_ROUNDS = 7, FEWEST_ROUNDS = 2, MOST_LOOKS = 3 };
#define CONTEST_SECONDS 1.0   // until somebody looks
#define SECONDS_LATE 2.0

static double seconds_of_run(const struct trial *t, int who)
{
    double start = clock_seconds();
    struct error ignored;
    run(t, who, &ignored);
    double seconds = clock_seconds() - start;
    release_outputs(t, who);
    return seconds;
}

static struct ratio_summary summarize(const double *theirs, const double *ours, size_t n)
{
    double ratios[2 * MOST_ROUNDS];
    size_t count = ratios_of_neighbours(theirs, ours, n, true, ratios);
    return ratios_summarize(ratios, &count, 1, RATIO_LOOKED_AT_OFTEN);
}

// A contest may begin late, and end later, as soon as somebody is ahead: what took the time was for it, and packing,
// which cannot be interrupted, would take it in each session to come.
static bool has_time(size_t n, double seconds_of_round, double began, double ends, double last)
{
    double late = n < FEWEST_ROUNDS ? fmax(ends, began) + SECONDS_LATE : fmax(ends, began + SECONDS_LATE);
    double limit = n < LEAST_ROUNDS ? late : last;
    return n < MOST_ROUNDS && clock_seconds() + seconds_of_round < limit;
}

// It goes on while nobody is ahead for sure. Rounds of large models may be few: the interval is the wider, and it is
// looked at once, as ratios of neighbours share runs, and the first of many looks at a few says much by chance.
static double find_ratio(const struct trial *t, double ends, struct error *error)
{
    double ours[MOST_ROUNDS], theirs[MOST_ROUNDS], began = clock_seconds(), look = began + CONTEST_SECONDS;
    double last = fmin(ends, look + (MOST_LOOKS - 1) * CONTEST_SECONDS), round = 0;
    struct ratio_summary summary = {0};
    size_t n = 0;
    for (bool is_decided = false; !is_decided && has_time(n, round, began, ends, last); n++) {
        theirs[n] = seconds_of_run(t, THEIRS);
        ours[n] = seconds_of_run(t, OURS);
        round = theirs[n] + ours[n];
        double now = clock_seconds();
        if ((n + 1 >= LEAST_ROUNDS && now > look) || (n + 1 == 2 * FEWEST_ROUNDS && now > ends)) {
            summary = summarize(theirs, ours, n + 1);
            is_decided = summary.low > 1 || summary.high < 1;
            look += CONTEST_SECONDS;
        }
    }
    if (n < FEWEST_ROUNDS) {
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "the time was over before they were seen to be faster");
        return 0;
    }
    summary = summarize(theirs, ours, n);
    runtime_log(t->runtime, "taso: %.3f (%.3f to %.3f) times as fast in a session, in %zu rounds", summary.ratio,
                summary.low, summary.high, n);
    return ratio_is_a_gain(&summary) ? summary.ratio : 0;
}

bool variant_open(struct variant *v, struct error *error)
{
    taso_error failure;
    taso_session *session = on_trial ? on_trial : taso_session_open_file(v->options, v->path, &failure);
    if (!session)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", failure.message);
    v->lent = on_trial;
    v->idle[v->n_idle++] = session;
    v->n_open = 1;
    return true;
}

#define OPENINGS_BEHIND 2       // as long as theirs: packing, and a session that is timed and stays
#define RUNS_BEHIND 2           // before the contest, to compare outputs
#define MOST_OF_USUAL 2         // looks: rounds of a large model are fewer than the usual ones
#define LEAST_SHARE 0.15        // of all the time
#define MOST_LATE 0.2           // the same, beyond which what is known to take longer is not begun
#define LEAST_TO_COMPILE 1e-3   // seconds: none at all would be no limit

// The time of all that follows the search.
static double seconds_behind(const struct trial *t, double of_contest)
{
    return of_contest + OPENINGS_BEHIND * t->sessions[THEIRS]->seconds_to_open + RUNS_BEHIND * t->of_run;
}

static double shortest_contest(const struct trial *t)
{
    return 2 * (FEWEST_ROUNDS + 1) * t->of_run;
}

static double seconds_to_compile(const struct trial *t, bool is_timed, double seconds)
{
    double usual = fmin(LEAST_ROUNDS * 2 * t->of_run, MOST_OF_USUAL * CONTEST_SECONDS);
    double contest = is_timed ? fmax(fmax(CONTEST_SECONDS, usual), shortest_contest(t)) : 0;
    return fmax(fmax(LEAST_SHARE * seconds, seconds - seconds_behind(t, contest)), LEAST_TO_COMPILE);
}

static bool has_time_to_begin(const struct trial *t, const struct variant *v, double seconds, struct error *error)
{
    double behind = seconds_behind(t, shortest_contest(t)), late = MOST_LATE * v->options->arguments.optimize.seconds;
    return !v->options->arguments.is_timed || behind <= seconds + late ||
           error_set_code(error, EXIT_UNSUPPORTED, NULL, "packing and timing it would take %.1f s, and %.1f are left",
                          behind, fmax(0, seconds));
}

// Kernels that lose digits may lose too many of them together: then it is compiled once more, without them.
static bool compile_the_same(struct variant *v, struct trial *t, double ends, struct error *error)
{
    bool is_timed = v->options->arguments.is_timed, is_exact = v->options->arguments.optimize.is_exact;
    while (compile(t->runtime, v, is_exact, seconds_to_compile(t, is_timed, ends - clock_seconds()), error)) {
        if (has_same_results(t, v, is_exact, error))
            return true;
        cpu_session_close(&t->own);
        variant_close(v);
        struct error late;
        if (is_exact || !t->is_doubted || !has_time_to_begin(t, v, ends - clock_seconds(), &late))
            return false;
        runtime_log(t->runtime, "taso: %s; it is compiled once more, without kernels that lose digits", error->message);
        is_exact = true;
        *error = (struct error){0};
    }
    return false;
}

bool variant_compile(struct variant *v, const struct cpu_session *theirs, uint64_t seed, double seconds,
                     struct error *error)
{
    struct trial trial;
    double ends = clock_seconds() + seconds;
    bool is_timed = v->options->arguments.is_timed;
    bool is_same = trial_make(&trial, v, theirs, seed, error) &&
                   has_time_to_begin(&trial, v, ends - clock_seconds(), error) &&
                   compile_the_same(v, &trial, ends, error);
    v->ratio = !is_same ? 0 : is_timed ? find_ratio(&trial, ends, error) : 1;
    trial_end(&trial);
    return v->ratio > 0;
}

void variant_close(struct variant *v)
{
    while (v->n_idle > 0)
        if (v->idle[--v->n_idle] != v->lent)
            taso_session_close(v->idle[v->n_idle]);
    v->n_open = 0;
}

taso_session *variant_take(struct variant *v)
{
    if (v->n_idle > 0)
        return v->idle[--v->n_idle];
    if (v->n_open == MOST_SESSIONS)
        return NULL;
    taso_session *session = taso_session_open_file(v->options, v->path, NULL);
    v->n_open += session != NULL;
    return session;
}

void variant_give(struct variant *v, taso_session *session)
{
    v->idle[v->n_idle++] = session;
}
