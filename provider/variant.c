// The optimizer writes a compiled model, which is then run by turns with the other session on the same inputs: random
// numbers, and zeros where entries are integers, which may be places.
#include "provider/variant.h"

#include "core/memory/memory.h"
#include "core/numbers/paired_ratios.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- compiling -------------------------------------------------------------------------------------------------------

// Shapes of inputs that have symbols. False: too many of them.
static bool add_shapes(const struct variant *v, taso_options *o, struct arena *arena)
{
    struct option_list *shapes = &o->arguments.optimize.shapes;
    const int64_t *dims = v->dims;
    for (size_t i = 0; i < v->model->inputs.count; dims += v->model->inputs.items[i++].rank) {
        const char *shape = model_value_shape(&v->model->inputs.items[i], dims, arena);
        if (shape && shapes->count == sizeof shapes->items / sizeof *shapes->items)
            return false;
        if (shape)
            shapes->items[shapes->count++] = shape;
    }
    return true;
}

#define SHARE_OF_SEARCH 0.45     // of the time that a variant has
#define SHARE_OF_COSTS_TOO 0.5   // where costs that are not known take longer; the rest is for weights and the contest

static int is_late(void *context)
{
    const struct variant *v = context;
    return clock_seconds() > v->ends;
}

static bool compile(struct variant *v, double seconds, struct error *error)
{
    struct arena arena;
    taso_options options = *v->options;
    taso_error failure;
    arena_init(&arena);
    options.arguments.optimize.seconds = SHARE_OF_SEARCH * seconds;
    options.arguments.is_timed = options.arguments.is_checked = false;   // ONNX Runtime is what it is held to
    v->ends = clock_seconds() + SHARE_OF_COSTS_TOO * seconds;
    taso_options_set_progress(&options, is_late, v);
    bool is_done = add_shapes(v, &options, &arena);
    if (!is_done)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "too many inputs of unknown sizes");
    else if (taso_optimize_file(&options, v->model->file.path, v->path, NULL, &failure) != TASO_DONE)
        is_done = error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s%s%s", failure.file, *failure.file ? ": " : "",
                                 failure.message);
    arena_free(&arena);
    return is_done;
}

// --- inputs and outputs ----------------------------------------------------------------------------------------------

struct trial {
    struct arena arena;
    taso_session *session;
    size_t n_inputs, n_outputs;
    const void **inputs;
    void **outputs;
    OrtValue **their_inputs;
};

static void fill(void *data, const taso_tensor *t, uint64_t seed)
{
    struct random random = random_seed(seed);
    if (strcmp(t->dtype, "f32") != 0) {
        memset(data, 0, t->bytes);
        return;
    }
    for (size_t i = 0; i < t->bytes / sizeof(float); i++)
        ((float *)data)[i] = (float)random_normal(&random);
}

static bool make_their_input(const struct cpu_session *s, struct trial *t, size_t i, int element_type)
{
    taso_tensor tensor = taso_session_input(t->session, i);
    return runtime_is_done(s->runtime,
                           s->runtime->api->CreateTensorWithDataAsOrtValue(
                               s->memory, (void *)t->inputs[i], tensor.bytes, tensor.dims, (size_t)tensor.rank,
                               (enum ONNXTensorElementDataType)element_type, &t->their_inputs[i]));
}

static bool trial_make(struct trial *t, const struct variant *v, const struct cpu_session *theirs,
                       taso_session *session, uint64_t seed)
{
    *t = (struct trial){.session = session,
                        .n_inputs = taso_session_input_count(session),
                        .n_outputs = taso_session_output_count(session)};
    arena_init(&t->arena);
    if (t->n_inputs != v->model->inputs.count || t->n_outputs != v->model->outputs.count)
        return false;
    t->inputs = arena_array(&t->arena, const void *, t->n_inputs + 1);
    t->outputs = arena_array(&t->arena, void *, t->n_outputs + 1);
    t->their_inputs = arena_array(&t->arena, OrtValue *, t->n_inputs + 1);
    for (size_t i = 0; i < t->n_inputs; i++) {
        taso_tensor tensor = taso_session_input(session, i);
        void *data = arena_alloc(&t->arena, tensor.bytes + 1, 64);
        fill(data, &tensor, seed + i);
        t->inputs[i] = data;
        if (!make_their_input(theirs, t, i, v->model->inputs.items[i].element_type))
            return false;
    }
    for (size_t i = 0; i < t->n_outputs; i++)
        t->outputs[i] = arena_alloc(&t->arena, taso_session_output(session, i).bytes + 1, 64);
    return true;
}

static void trial_end(struct trial *t, const struct cpu_session *theirs)
{
    for (size_t i = 0; t->their_inputs && i < t->n_inputs; i++)
        if (t->their_inputs[i])
            theirs->runtime->api->ReleaseValue(t->their_inputs[i]);
    arena_free(&t->arena);
}

static bool run_theirs(const struct trial *t, const struct cpu_session *theirs, OrtValue **outputs)
{
    return runtime_is_done(theirs->runtime, cpu_session_run(theirs, (const OrtValue *const *)t->their_inputs, outputs));
}

static void release_outputs(const struct cpu_session *theirs, OrtValue **outputs)
{
    for (size_t i = 0; i < theirs->n_outputs; i++)
        if (outputs[i])
            theirs->runtime->api->ReleaseValue(outputs[i]);
}

// --- the same results? -----------------------------------------------------------------------------------------------

static bool are_close(const float *a, const float *b, size_t n, double tolerance)
{
    double largest = 0, apart = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) && isnan(b[i]))
            continue;
        if (a[i] == b[i]) {
            largest = isfinite(a[i]) ? fmax(largest, fabs((double)a[i])) : largest;
            continue;
        }
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return false;
        largest = fmax(largest, fabs((double)b[i]));
        apart = fmax(apart, fabs((double)a[i] - (double)b[i]));
    }
    return apart <= tolerance * largest;
}

static bool is_same_output(const struct cpu_session *theirs, const taso_tensor *t, const void *ours,
                           const OrtValue *value, double tolerance)
{
    const OrtApi *api = theirs->runtime->api;
    OrtTensorTypeAndShapeInfo *info;
    const void *data;
    size_t count = 0;
    if (!runtime_is_done(theirs->runtime, api->GetTensorTypeAndShape(value, &info)))
        return false;
    bool is_read = runtime_is_done(theirs->runtime, api->GetTensorShapeElementCount(info, &count)) &&
                   runtime_is_done(theirs->runtime, api->GetTensorData(value, &data));
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (!is_read)
        return false;
    if (strcmp(t->dtype, "f32") == 0)
        return count * sizeof(float) == t->bytes && are_close(ours, data, count, tolerance);
    return count == 0 || t->bytes % count != 0 || memcmp(ours, data, t->bytes) == 0 || strchr(t->dtype, 'f');
}

static bool has_same_results(struct trial *t, const struct variant *v, const struct cpu_session *theirs,
                             struct error *error)
{
    OrtValue **outputs = arena_array(&t->arena, OrtValue *, t->n_outputs + 1);
    taso_error failure;
    if (taso_session_run(t->session, t->inputs, t->outputs, &failure) != TASO_DONE)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", failure.message);
    bool is_same = run_theirs(t, theirs, outputs);
    for (size_t i = 0; is_same && i < t->n_outputs; i++) {
        taso_tensor tensor = taso_session_output(t->session, i);
        is_same = is_same_output(theirs, &tensor, t->outputs[i], outputs[i], v->options->arguments.optimize.tolerance);
        if (!is_same)
            error_set_code(error, EXIT_UNSUPPORTED, NULL, "output %s is not ONNX Runtime's", tensor.name);
    }
    release_outputs(theirs, outputs);
    return is_same;
}

// --- the contest -----------------------------------------------------------------------------------------------------

enum { MOST_ROUNDS = 60, LEAST_ROUNDS = 7, FEWEST_ROUNDS = 2 };
#define CONTEST_SECONDS 1.0

static double time_ours(const struct trial *t)
{
    double start = clock_seconds();
    taso_session_run(t->session, t->inputs, t->outputs, NULL);
    return clock_seconds() - start;
}

static double time_theirs(struct trial *t, const struct cpu_session *theirs, OrtValue **outputs)
{
    double start = clock_seconds();
    run_theirs(t, theirs, outputs);
    double seconds = clock_seconds() - start;
    release_outputs(theirs, outputs);
    memset(outputs, 0, t->n_outputs * sizeof *outputs);
    return seconds;
}

// Rounds of large models may be few: the interval is the wider.
static double find_ratio(struct trial *t, const struct cpu_session *theirs, double ends, struct error *error)
{
    OrtValue **outputs = arena_array(&t->arena, OrtValue *, t->n_outputs + 1);
    double ours[MOST_ROUNDS], others[MOST_ROUNDS], ratios[2 * MOST_ROUNDS], usual = clock_seconds() + CONTEST_SECONDS;
    size_t n = 0;
    for (double round = 0; n < MOST_ROUNDS && clock_seconds() + round < (n < LEAST_ROUNDS ? ends : fmin(ends, usual));
         n++) {
        others[n] = time_theirs(t, theirs, outputs);
        ours[n] = time_ours(t);
        round = others[n] + ours[n];
    }
    if (n < FEWEST_ROUNDS) {
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "the time was over before they were seen to be faster");
        return 0;
    }
    size_t count = ratios_of_neighbours(others, ours, n, true, ratios);
    struct ratio_summary summary = ratios_summarize(ratios, &count, 1, RATIO_LOOKED_AT_ONCE);
    return ratio_is_a_gain(&summary) ? summary.ratio : 0;
}

static double judge(const struct variant *v, const struct cpu_session *theirs, taso_session *session, uint64_t seed,
                    double ends, struct error *error)
{
    struct trial trial;
    bool is_made = trial_make(&trial, v, theirs, session, seed);
    if (!is_made)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "the compiled model has other inputs or outputs");
    bool is_same = is_made && has_same_results(&trial, v, theirs, error), is_timed = v->options->arguments.is_timed;
    double ratio = !is_same ? 0 : is_timed ? find_ratio(&trial, theirs, ends, error) : 1;
    trial_end(&trial, theirs);
    return ratio;
}

bool variant_open(struct variant *v, struct error *error)
{
    taso_error failure;
    taso_session *session = taso_session_open_file(v->options, v->path, &failure);
    if (!session)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", failure.message);
    v->idle[v->n_idle++] = session;
    v->n_open = 1;
    return true;
}

bool variant_compile(struct variant *v, const struct cpu_session *theirs, uint64_t seed, double seconds,
                     struct error *error)
{
    double ends = clock_seconds() + seconds;
    v->ratio = 0;
    if (!compile(v, seconds, error) || !variant_open(v, error))
        return false;
    v->ratio = judge(v, theirs, v->idle[0], seed, ends, error);
    return v->ratio > 0;
}

void variant_close(struct variant *v)
{
    while (v->n_idle > 0)
        taso_session_close(v->idle[--v->n_idle]);
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
