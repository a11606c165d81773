// A run looks for the variant of its sizes. Where there is none, one is begun in a thread of its own, of at most one at
// a time, and the other session runs meanwhile, as it does for sizes beyond those that are kept.
#include "provider/compiled_region.h"

#include "core/memory/memory.h"
#include "core/system/workers.h"
#include "core/text/error.h"
#include "provider/variant.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VARIANTS = 8 };
enum variant_state { VARIANT_WAITS, VARIANT_RUNS, VARIANT_IS_GIVEN_UP };

struct compiled_region {
    const struct runtime *runtime;
    const taso_options *options;
    struct model_bytes model;
    struct arena arena;   // of the variants' sizes, and the other session's names
    struct temporary_folder folder;
    struct cpu_session theirs;
    size_t n_kernel_inputs, n_kernel_outputs, n_dims;
    const size_t *inputs, *outputs;   // of the region, by the kernel's
    pthread_mutex_t lock;             // of all below
    pthread_cond_t is_given;
    pthread_t worker;
    bool has_worker, is_working;
    size_t n_variants, compiling;
    struct variant variants[MOST_VARIANTS];
    enum variant_state states[MOST_VARIANTS];
};

// --- opening ---------------------------------------------------------------------------------------------------------

static bool open_sessions(struct compiled_region *c, struct error *error)
{
    int threads = (int)c->options->arguments.optimize.threads;
    return temporary_folder_make(&c->folder, error) &&
           cpu_session_open(&c->theirs, c->runtime, &c->model, NULL, threads, &c->arena, error);
}

static struct compiled_region *new_region(const struct runtime *r, const taso_options *options)
{
    struct compiled_region *c = mem_alloc_zero(sizeof *c);
    c->runtime = r;
    c->options = options;
    c->model.file.descriptor = -1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->is_given, NULL);
    return c;
}

struct compiled_region *compiled_region_open(const struct runtime *r, struct model_bytes *model,
                                             const taso_options *options, struct error *error)
{
    struct compiled_region *c = new_region(r, options);
    c->model = *model;
    *model = (struct model_bytes){.file = {.descriptor = -1}};
    for (size_t i = 0; i < c->model.inputs.count; i++)
        c->n_dims += (size_t)c->model.inputs.items[i].form.rank;
    if (open_sessions(c, error))
        return c;
    compiled_region_close(c);
    return NULL;
}

void compiled_region_close(struct compiled_region *c)
{
    if (!c)
        return;
    if (c->has_worker)
        pthread_join(c->worker, NULL);
    for (size_t i = 0; i < c->n_variants; i++)
        variant_close(&c->variants[i]);
    cpu_session_close(&c->theirs);
    temporary_folder_remove(&c->folder);
    model_bytes_free(&c->model);
    arena_free(&c->arena);
    pthread_cond_destroy(&c->is_given);
    pthread_mutex_destroy(&c->lock);
    mem_free(c, sizeof *c);
}

const struct model_bytes *compiled_region_model(const struct compiled_region *c)
{
    return &c->model;
}

bool compiled_region_is_fixed(const struct compiled_region *c)
{
    return !ANY(size_t, i, c->model.inputs.count,
                ANY(int, k, c->model.inputs.items[i].form.rank, c->model.inputs.items[i].form.dims[k] < 0));
}

// --- variants --------------------------------------------------------------------------------------------------------

static size_t add_variant(struct compiled_region *c, const int64_t *dims)
{
    struct variant *v = &c->variants[c->n_variants];
    *v = (struct variant){
        .model = &c->model, .options = c->options, .dims = dims ? arena_copy_array(&c->arena, dims, c->n_dims) : NULL};
    snprintf(v->path, sizeof v->path, "%s/%zu.taso", c->folder.path, c->n_variants);
    c->states[c->n_variants] = VARIANT_WAITS;
    return c->n_variants++;
}

// Compiles it and says so in the log. `error` is set where it cannot be.
static double compile(struct compiled_region *c, size_t variant, double seconds, struct error *error)
{
    struct variant *v = &c->variants[variant];
    bool pays = variant_compile(v, &c->theirs, variant, seconds, error);
    if (!pays)
        variant_close(v);
    return pays ? v->ratio : 0;
}

static const int64_t *list_dims(struct compiled_region *c)
{
    int64_t *dims = arena_array(&c->arena, int64_t, c->n_dims + 1);
    size_t n = 0;
    vec_each(&c->model.inputs, v)
        for (int k = 0; k < v->form.rank; k++)
            dims[n++] = model_bytes_likely_size(&c->model, v, k);
    return dims;
}

// Parts that served to compile and to compare hold the weights once more each: useless where sizes are known.
static void let_go(struct compiled_region *c)
{
    cpu_session_close(&c->theirs);
    memory_file_close(&c->model.file);
}

#define NO_LIMIT 1e9   // seconds: that is 0, as of taso-opt's --time

double compiled_region_seconds(const taso_options *options)
{
    double seconds = options->arguments.optimize.seconds;
    return seconds > 0 ? seconds : NO_LIMIT;
}

double compiled_region_judge(struct compiled_region *c, double seconds, struct error *error)
{
    size_t variant = add_variant(c, list_dims(c));
    double ratio = compile(c, variant, seconds, error);
    c->states[variant] = ratio > 0 ? VARIANT_RUNS : VARIANT_IS_GIVEN_UP;
    if (ratio > 0 && compiled_region_is_fixed(c))
        let_go(c);
    return ratio;
}

static void *work(void *context)
{
    struct compiled_region *c = context;
    struct error error = {0};
    double ratio = compile(c, c->compiling, compiled_region_seconds(c->options), &error);
    if (ratio > 0)
        runtime_log(c->runtime, "taso: new sizes are run %.2f times faster", ratio);
    else
        runtime_log(c->runtime, "taso: new sizes are left to ONNX Runtime: %s",
                    *error.message ? error.message : "they are not run faster");
    pthread_mutex_lock(&c->lock);
    c->states[c->compiling] = ratio > 0 ? VARIANT_RUNS : VARIANT_IS_GIVEN_UP;
    c->is_working = false;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void begin_variant(struct compiled_region *c, const int64_t *dims)
{
    if (c->is_working || c->n_variants == MOST_VARIANTS)
        return;
    if (c->has_worker)
        pthread_join(c->worker, NULL);   // it has ended, or is about to
    c->compiling = add_variant(c, dims);
    c->is_working = c->has_worker = pthread_create(&c->worker, NULL, work, c) == 0;
    if (!c->has_worker)
        c->states[c->compiling] = VARIANT_IS_GIVEN_UP;
}

static struct variant *find_variant(struct compiled_region *c, const int64_t *dims, bool *ret_is_known)
{
    for (size_t i = 0; i < c->n_variants; i++)
        if (memcmp(c->variants[i].dims, dims, c->n_dims * sizeof *dims) == 0) {
            *ret_is_known = true;
            return c->states[i] == VARIANT_RUNS ? &c->variants[i] : NULL;
        }
    *ret_is_known = false;
    return NULL;
}

// A restored region has no other session: the caller waits for one of ours.
static taso_session *wait_for_session(struct compiled_region *c, struct variant *v)
{
    taso_session *session = variant_take(v);
    while (!session && v->n_open > 0 && !c->theirs.session) {
        pthread_cond_wait(&c->is_given, &c->lock);
        session = variant_take(v);
    }
    return session;
}

// A session of the variant of these sizes; NULL: the other session is to run.
static taso_session *take_session(struct compiled_region *c, const int64_t *dims, struct variant **ret_variant)
{
    bool is_known;
    pthread_mutex_lock(&c->lock);
    struct variant *v = find_variant(c, dims, &is_known);
    if (!is_known && c->theirs.session)
        begin_variant(c, dims);
    taso_session *session = v ? wait_for_session(c, v) : NULL;
    pthread_mutex_unlock(&c->lock);
    *ret_variant = v;
    return session;
}

static void give_session(struct compiled_region *c, struct variant *v, taso_session *session)
{
    pthread_mutex_lock(&c->lock);
    variant_give(v, session);
    pthread_cond_signal(&c->is_given);
    pthread_mutex_unlock(&c->lock);
}

// --- restoring -------------------------------------------------------------------------------------------------------

struct compiled_region *compiled_region_begin_restoring(const struct runtime *r, const taso_options *options,
                                                        struct error *error)
{
    struct compiled_region *c = new_region(r, options);
    if (temporary_folder_make(&c->folder, error)) {
        add_variant(c, NULL);
        return c;
    }
    compiled_region_close(c);
    return NULL;
}

const char *compiled_region_file(const struct compiled_region *c)
{
    return c->variants[0].path;
}

static struct model_value describe(struct compiled_region *c, taso_tensor t)
{
    struct model_value v = {.name = arena_string(&c->arena, t.name), .form.rank = t.rank};
    memcpy(v.form.dims, t.dims, (size_t)t.rank * sizeof *t.dims);
    return v;
}

bool compiled_region_restore(struct compiled_region *c, struct error *error)
{
    struct variant *v = &c->variants[0];
    if (!variant_open(v, error))
        return false;
    for (size_t i = 0; i < taso_session_output_count(v->idle[0]); i++)
        vec_push(&c->model.outputs, describe(c, taso_session_output(v->idle[0], i)));
    for (size_t i = 0; i < taso_session_input_count(v->idle[0]); i++) {
        vec_push(&c->model.inputs, describe(c, taso_session_input(v->idle[0], i)));
        c->n_dims += (size_t)vec_last(&c->model.inputs).form.rank;
    }
    v->dims = list_dims(c);
    c->states[0] = VARIANT_RUNS;
    return true;
}

// --- running ---------------------------------------------------------------------------------------------------------

void compiled_region_bind(struct compiled_region *c, const size_t *inputs, size_t n_inputs, const size_t *outputs,
                          size_t n_outputs)
{
    c->inputs = arena_copy_array(&c->arena, inputs, n_inputs);
    c->outputs = arena_copy_array(&c->arena, outputs, n_outputs);
    c->n_kernel_inputs = n_inputs;
    c->n_kernel_outputs = n_outputs;
}

struct run {
    struct compiled_region *region;
    OrtKernelContext *context;
    const OrtValue **inputs;
    const void **data;
    int64_t *dims;
};

static bool read_inputs(struct run *run)
{
    struct compiled_region *c = run->region;
    const OrtApi *api = c->runtime->api;
    for (size_t i = 0; i < c->n_kernel_inputs; i++)
        if (c->inputs[i] != SIZE_MAX &&
            !runtime_is_done(c->runtime, api->KernelContext_GetInput(run->context, i, &run->inputs[c->inputs[i]])))
            return false;
    int64_t *dims = run->dims;
    struct tensor_form form;
    for (size_t i = 0; i < c->model.inputs.count; dims += form.rank, i++) {
        if (!run->inputs[i] || !runtime_read_value(c->runtime, run->inputs[i], &form) ||
            form.rank != c->model.inputs.items[i].form.rank ||
            !runtime_is_done(c->runtime, api->GetTensorData(run->inputs[i], &run->data[i])))
            return false;
        memcpy(dims, form.dims, (size_t)form.rank * sizeof *dims);
        if (!run->data[i])
            run->data[i] = run;   // without entries: nothing is read
    }
    return true;
}

// The graph that has an EPContext node may say other element types than what was compiled.
static OrtStatus *expect_bytes(const struct run *run, const OrtValue *value, size_t bytes)
{
    size_t there = 0;
    OrtStatus *status = run->region->runtime->api->GetTensorSizeInBytes(value, &there);
    if (!status && there != bytes)
        status = runtime_fail(run->region->runtime, "taso: a tensor has another type than what was compiled for it");
    return status;
}

static OrtStatus *make_output(const struct run *run, size_t kernel_output, const int64_t *dims, size_t rank,
                              size_t bytes, void **ret_data)
{
    const OrtApi *api = run->region->runtime->api;
    OrtValue *value;
    OrtStatus *status = api->KernelContext_GetOutput(run->context, kernel_output, dims, rank, &value);
    if (!status)
        status = expect_bytes(run, value, bytes);
    if (!status)
        status = api->GetTensorMutableData(value, ret_data);
    if (!status && !*ret_data)
        *ret_data = (void *)run;   // without entries: nothing is written
    return status;
}

struct parts {
    parallel_function *function;
    void *argument;
    int n;
};

__attribute__((no_sanitize("thread"))) static void run_part(void *data, size_t part)
{
    const struct parts *p = data;
    p->function(p->argument, (int)part, p->n);
}

// On the threads of the session that runs us. What ONNX Runtime refuses it has not begun.
static void run_parts(void *context, int n, parallel_function *function, void *argument)
{
    const struct run *run = context;
    const struct runtime *r = run->region->runtime;
    struct parts parts = {function, argument, n};
    if (!runtime_is_done(r, r->api->KernelContext_ParallelFor(run->context, run_part, (size_t)n, 0, &parts)))
        for (int i = 0; i < n; i++)
            function(argument, i, n);
}

static OrtStatus *run_ours(struct run *run, taso_session *session)
{
    struct compiled_region *c = run->region;
    void **outputs = mem_alloc_zero((c->model.outputs.count + 1) * sizeof *outputs);
    OrtStatus *status = NULL;
    taso_error error;
    for (size_t i = 0; i < c->model.inputs.count && !status; i++)
        status = expect_bytes(run, run->inputs[i], taso_session_input(session, i).bytes);
    for (size_t i = 0; i < c->n_kernel_outputs && !status; i++) {
        taso_tensor t = taso_session_output(session, c->outputs[i]);
        status = make_output(run, i, t.dims, (size_t)t.rank, t.bytes, &outputs[c->outputs[i]]);
    }
    struct workers workers = {run_parts, run};
    if (!status && library_session_run(session, &workers, run->data, outputs, &error) != TASO_DONE)
        status = runtime_fail(c->runtime, "taso: %s", error.message);
    mem_free(outputs, (c->model.outputs.count + 1) * sizeof *outputs);
    return status;
}

static OrtStatus *copy_output(const struct run *run, size_t kernel_output, const OrtValue *value)
{
    const OrtApi *api = run->region->runtime->api;
    struct tensor_form form;
    const void *from;
    void *to;
    size_t bytes = 0;
    if (!runtime_read_value(run->region->runtime, value, &form))
        return runtime_fail(run->region->runtime, "taso: an output's shape cannot be read");
    OrtStatus *status = api->GetTensorSizeInBytes(value, &bytes);
    if (!status)
        status = api->GetTensorData(value, &from);
    if (!status)
        status = make_output(run, kernel_output, form.dims, (size_t)form.rank, bytes, &to);
    if (!status)
        memcpy(to, from, bytes);
    return status;
}

static OrtStatus *run_theirs(struct run *run)
{
    struct compiled_region *c = run->region;
    size_t n = c->model.outputs.count;
    if (!c->theirs.session)
        return runtime_fail(c->runtime, "taso: an input has other sizes than the EPContext node was compiled for");
    OrtValue **outputs = mem_alloc_zero((n + 1) * sizeof *outputs);
    OrtStatus *status = cpu_session_run(&c->theirs, run->inputs, outputs);
    for (size_t i = 0; i < c->n_kernel_outputs && !status; i++)
        status = copy_output(run, i, outputs[c->outputs[i]]);
    for (size_t i = 0; i < n; i++)
        if (outputs[i])
            c->runtime->api->ReleaseValue(outputs[i]);
    mem_free(outputs, (n + 1) * sizeof *outputs);
    return status;
}

OrtStatus *compiled_region_run(struct compiled_region *c, OrtKernelContext *context)
{
    size_t n = c->model.inputs.count;
    ARENA(arena);
    struct variant *variant;
    struct run run = {c, context, arena_array(&arena, const OrtValue *, n + 1),
                      arena_array(&arena, const void *, n + 1), arena_array(&arena, int64_t, c->n_dims + 1)};
    OrtStatus *status = NULL;
    taso_session *session = NULL;
    if (!read_inputs(&run))
        status = runtime_fail(c->runtime, "taso: an input has another type than the session's graph says");
    else
        session = take_session(c, run.dims, &variant);
    if (!status)
        status = session ? run_ours(&run, session) : run_theirs(&run);
    if (session)
        give_session(c, variant, session);
    return status;
}
