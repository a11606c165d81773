// The optimizer writes a compiled model. A session in which that stands for all nodes is run by turns with the other
// one on the same inputs: random numbers, and zeros where entries are integers, which may be places. Its kernels run on
// the threads of a session there, as they will: what they take on threads of their own does not hold in sessions.
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

// --- both sessions ---------------------------------------------------------------------------------------------------

enum { THEIRS, OURS };
struct trial {
    struct arena arena;
    const struct runtime *runtime;
    struct cpu_session own;
    const struct cpu_session *sessions[2];
    OrtValue **inputs, **outputs[2];
};

static void fill(void *data, size_t bytes, bool is_float, uint64_t seed)
{
    struct random random = random_seed(seed);
    if (!is_float)
        memset(data, 0, bytes);
    for (size_t i = 0; is_float && i < bytes / sizeof(float); i++)
        ((float *)data)[i] = (float)random_normal(&random);
}

static bool make_input(const struct trial *t, const struct model_value *v, const int64_t *dims, uint64_t seed,
                       OrtValue **ret_value)
{
    const OrtApi *api = t->runtime->api;
    enum ONNXTensorElementDataType type = (enum ONNXTensorElementDataType)v->element_type;
    OrtAllocator *allocator;
    void *data;
    size_t bytes = 0;
    if (!runtime_is_done(t->runtime, api->GetAllocatorWithDefaultOptions(&allocator)) ||
        !runtime_is_done(t->runtime, api->CreateTensorAsOrtValue(allocator, dims, (size_t)v->rank, type, ret_value)) ||
        !runtime_is_done(t->runtime, api->GetTensorSizeInBytes(*ret_value, &bytes)) ||
        !runtime_is_done(t->runtime, api->GetTensorMutableData(*ret_value, &data)))
        return false;
    if (bytes > 0)
        fill(data, bytes, type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, seed);
    return true;
}

// The file in a session like the one that is to run it, so that what is timed is what will be.
static bool trial_make(struct trial *t, const struct variant *v, const struct cpu_session *theirs, uint64_t seed,
                       struct error *error)
{
    int threads = (int)v->options->arguments.optimize.threads;
    *t = (struct trial){.runtime = theirs->runtime, .sessions = {theirs, &t->own}};
    arena_init(&t->arena);
    t->inputs = arena_array(&t->arena, OrtValue *, theirs->n_inputs + 1);
    for (int i = 0; i < 2; i++)
        t->outputs[i] = arena_array(&t->arena, OrtValue *, theirs->n_outputs + 1);
    if (!cpu_session_open(&t->own, theirs->runtime, v->model, v->path, threads, &t->arena, error))
        return false;
    const int64_t *dims = v->dims;
    for (size_t i = 0; i < theirs->n_inputs; dims += v->model->inputs.items[i++].rank)
        if (!make_input(t, &v->model->inputs.items[i], dims, seed + i, &t->inputs[i]))
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "ONNX Runtime makes no input for it");
    return true;
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

static void trial_end(struct trial *t)
{
    release_all(t, t->inputs, t->sessions[THEIRS]->n_inputs);
    cpu_session_close(&t->own);
    arena_free(&t->arena);
}

static bool run(const struct trial *t, int who)
{
    const struct cpu_session *s = t->sessions[who];
    return runtime_is_done(t->runtime, cpu_session_run(s, (const OrtValue *const *)t->inputs, t->outputs[who]));
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

struct output {
    const void *data;
    size_t bytes;
    enum ONNXTensorElementDataType type;
};

static bool read_output(const struct runtime *r, const OrtValue *value, struct output *ret_output)
{
    OrtTensorTypeAndShapeInfo *info;
    if (!runtime_is_done(r, r->api->GetTensorTypeAndShape(value, &info)))
        return false;
    bool is_read = runtime_is_done(r, r->api->GetTensorElementType(info, &ret_output->type)) &&
                   runtime_is_done(r, r->api->GetTensorSizeInBytes(value, &ret_output->bytes)) &&
                   runtime_is_done(r, r->api->GetTensorData(value, &ret_output->data));
    r->api->ReleaseTensorTypeAndShapeInfo(info);
    return is_read;
}

// Reals of other precisions are not compared.
static bool is_other_real(enum ONNXTensorElementDataType type)
{
    return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 ||
           type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
}

static bool is_same_output(const struct runtime *r, const OrtValue *ours, const OrtValue *theirs, double tolerance)
{
    struct output a, b;
    if (!read_output(r, ours, &a) || !read_output(r, theirs, &b) || a.type != b.type || a.bytes != b.bytes)
        return false;
    if (a.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
        return are_close(a.data, b.data, a.bytes / sizeof(float), tolerance);
    return a.bytes == 0 || is_other_real(a.type) || memcmp(a.data, b.data, a.bytes) == 0;
}

static bool has_same_results(const struct trial *t, const struct variant *v, struct error *error)
{
    bool is_same = run(t, OURS) && run(t, THEIRS);
    if (!is_same)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "it fails on random inputs");
    for (size_t i = 0; is_same && i < t->own.n_outputs; i++) {
        is_same = is_same_output(t->runtime, t->outputs[OURS][i], t->outputs[THEIRS][i],
                                 v->options->arguments.optimize.tolerance);
        if (!is_same)
            error_set_code(error, EXIT_UNSUPPORTED, NULL, "output %s is not ONNX Runtime's", t->own.output_names[i]);
    }
    release_outputs(t, OURS);
    release_outputs(t, THEIRS);
    return is_same;
}

// --- the contest -----------------------------------------------------------------------------------------------------

enum { MOST_ROUNDS = 180, LEAST_ROUNDS = 7, FEWEST_ROUNDS = 2, MOST_LOOKS = 3 };
#define CONTEST_SECONDS 1.0   // until somebody looks

static double seconds_of_run(const struct trial *t, int who)
{
    double start = clock_seconds();
    run(t, who);
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

// It goes on while nobody is ahead for sure. Rounds of large models may be few: the interval is the wider.
static double find_ratio(const struct trial *t, double ends, struct error *error)
{
    double ours[MOST_ROUNDS], theirs[MOST_ROUNDS], look = clock_seconds() + CONTEST_SECONDS;
    double last = fmin(ends, look + (MOST_LOOKS - 1) * CONTEST_SECONDS), round = 0;
    struct ratio_summary summary = {0};
    size_t n = 0;
    for (bool is_decided = false;
         !is_decided && n < MOST_ROUNDS && clock_seconds() + round < (n < LEAST_ROUNDS ? ends : last); n++) {
        theirs[n] = seconds_of_run(t, THEIRS);
        ours[n] = seconds_of_run(t, OURS);
        round = theirs[n] + ours[n];
        if (n + 1 >= LEAST_ROUNDS && clock_seconds() > look) {
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

static double judge(const struct variant *v, const struct cpu_session *theirs, uint64_t seed, double ends,
                    struct error *error)
{
    struct trial trial;
    bool is_same = trial_make(&trial, v, theirs, seed, error) && has_same_results(&trial, v, error);
    double ratio = !is_same ? 0 : v->options->arguments.is_timed ? find_ratio(&trial, ends, error) : 1;
    trial_end(&trial);
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
    if (!compile(v, seconds, error))
        return false;
    v->ratio = judge(v, theirs, seed, ends, error);
    return v->ratio > 0 && variant_open(v, error);
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
