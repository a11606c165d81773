// Sessions with the plugin at work beside each other: `parallel PLUGIN MODEL THREADS`. Of one session some threads make
// runs, others bind tensors or run asynchronously, and others open, run and close sessions of their own; everybody gets
// what ONNX Runtime's own provider gives. Then the plugin is taken away, and all of it done again.
#include <math.h>
#include <onnxruntime_c_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 64, ENTRIES = ROWS * COLUMNS, RUNS = 20, OPENINGS = 2, OF_A_KIND = 2, SEEDS = 3 };

struct test {
    const OrtApi *ort;
    OrtEnv *env;
    const char *model;
    const char *threads;
    OrtSession *shared;
    float expected[SEEDS][ENTRIES];   // by seeds of inputs
};
static const char *const inputs[] = {"x"}, *const outputs[] = {"z"};
static const int64_t dims[] = {ROWS, COLUMNS};

static void check(const struct test *t, OrtStatus *status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", t->ort->GetErrorMessage(status));
    exit(1);
}

static const OrtEpDevice *find_device(const struct test *t)
{
    const OrtEpDevice *const *devices;
    size_t n, i = 0;
    check(t, t->ort->GetEpDevices(t->env, &devices, &n));
    while (i < n && strcmp(t->ort->EpDevice_EpName(devices[i]), "TasoExecutionProvider") != 0)
        i++;
    return i < n ? devices[i] : NULL;
}

static OrtSession *open_session(const struct test *t, bool is_ours)
{
    const char *const keys[] = {"threads", "measure", "costs", "time", "budget"};
    const char *const values[] = {t->threads, "false", "", "2", "50"};
    const OrtEpDevice *device = find_device(t);
    OrtSessionOptions *options;
    OrtSession *session;
    check(t, t->ort->CreateSessionOptions(&options));
    check(t, t->ort->SetIntraOpNumThreads(options, is_ours ? atoi(t->threads) : 1));
    if (is_ours)
        check(t, t->ort->SessionOptionsAppendExecutionProvider_V2(options, t->env, &device, 1, keys, values, 5));
    check(t, t->ort->CreateSession(t->env, t->model, options, &session));
    t->ort->ReleaseSessionOptions(options);
    return session;
}

// --- runs ------------------------------------------------------------------------------------------------------------

static OrtValue *make_value(const struct test *t, float *data)
{
    OrtMemoryInfo *memory;
    OrtValue *value;
    check(t, t->ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    check(t, t->ort->CreateTensorWithDataAsOrtValue(memory, data, ENTRIES * sizeof *data, dims, 2,
                                                    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    t->ort->ReleaseMemoryInfo(memory);
    return value;
}

struct tensors {
    float x[ENTRIES], z[ENTRIES];
    OrtValue *input, *output;
};

static void make_tensors(const struct test *t, struct tensors *ret_tensors, int seed)
{
    for (int i = 0; i < ENTRIES; i++) {
        ret_tensors->x[i] = (float)((i * 7 + seed * 3) % 11 - 5) / 4;
        ret_tensors->z[i] = NAN;
    }
    ret_tensors->input = make_value(t, ret_tensors->x);
    ret_tensors->output = make_value(t, ret_tensors->z);
}

static void release_tensors(const struct test *t, struct tensors *tensors)
{
    t->ort->ReleaseValue(tensors->input);
    t->ort->ReleaseValue(tensors->output);
}

static void run(const struct test *t, OrtSession *session, struct tensors *tensors)
{
    check(t, t->ort->Run(session, NULL, inputs, (const OrtValue *const *)&tensors->input, 1, outputs, 1,
                         &tensors->output));
}

static void run_bound(const struct test *t, OrtSession *session, struct tensors *tensors)
{
    OrtIoBinding *binding;
    check(t, t->ort->CreateIoBinding(session, &binding));
    check(t, t->ort->BindInput(binding, inputs[0], tensors->input));
    check(t, t->ort->BindOutput(binding, outputs[0], tensors->output));
    check(t, t->ort->RunWithBinding(session, NULL, binding));
    t->ort->ReleaseIoBinding(binding);
}

struct waiting {
    const struct test *test;
    pthread_mutex_t lock;
    pthread_cond_t is_done;
    bool has_ended;
};

static void wake(void *context, OrtValue **values, size_t n, OrtStatus *status)
{
    struct waiting *w = context;
    check(w->test, status);
    pthread_mutex_lock(&w->lock);
    w->has_ended = true;
    pthread_cond_signal(&w->is_done);
    pthread_mutex_unlock(&w->lock);
}

static void run_asynchronously(const struct test *t, OrtSession *session, struct tensors *tensors)
{
    struct waiting w = {t, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    check(t, t->ort->RunAsync(session, NULL, inputs, (const OrtValue *const *)&tensors->input, 1, outputs, 1,
                              &tensors->output, wake, &w));
    pthread_mutex_lock(&w.lock);
    while (!w.has_ended)
        pthread_cond_wait(&w.is_done, &w.lock);
    pthread_mutex_unlock(&w.lock);
}

typedef void run_function(const struct test *t, OrtSession *session, struct tensors *tensors);

static void run_and_compare(const struct test *t, OrtSession *session, run_function *how, int seed)
{
    struct tensors tensors;
    make_tensors(t, &tensors, seed);
    how(t, session, &tensors);
    for (int i = 0; i < ENTRIES; i++)
        if (!(fabsf(tensors.z[i] - t->expected[seed][i]) <= 1e-5f)) {
            fprintf(stderr, "entry %d is %g instead of %g\n", i, tensors.z[i], t->expected[seed][i]);
            exit(1);
        }
    release_tensors(t, &tensors);
}

// --- threads ---------------------------------------------------------------------------------------------------------

static void *make_runs(void *context)
{
    for (int i = 0; i < RUNS; i++)
        run_and_compare(context, ((struct test *)context)->shared, run, i % SEEDS);
    return NULL;
}

static void *make_bound_runs(void *context)
{
    for (int i = 0; i < RUNS; i++)
        run_and_compare(context, ((struct test *)context)->shared, run_bound, i % SEEDS);
    return NULL;
}

// How ONNX Runtime hands the caller's tensors to its threads ThreadSanitizer does not see.
#ifdef __SANITIZE_THREAD__
#define HAS_ASYNCHRONOUS_RUNS false
#else
#define HAS_ASYNCHRONOUS_RUNS true
#endif

static void *make_asynchronous_runs(void *context)
{
    struct test *t = context;
    bool is_wanted = HAS_ASYNCHRONOUS_RUNS && atoi(t->threads) > 1;   // which need threads of the session's
    for (int i = 0; is_wanted && i < RUNS; i++)
        run_and_compare(t, t->shared, run_asynchronously, i % SEEDS);
    return NULL;
}

static void *open_sessions(void *context)
{
    struct test *t = context;
    for (int i = 0; i < OPENINGS; i++) {
        OrtSession *session = open_session(t, true);
        run_and_compare(t, session, run, i % SEEDS);
        t->ort->ReleaseSession(session);
    }
    return NULL;
}

static void find_expected(struct test *t)
{
    OrtSession *own = open_session(t, false);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct tensors tensors;
        make_tensors(t, &tensors, seed);
        run(t, own, &tensors);
        memcpy(t->expected[seed], tensors.z, sizeof tensors.z);
        release_tensors(t, &tensors);
    }
    t->ort->ReleaseSession(own);
}

static void do_all(struct test *t, const char *plugin)
{
    static void *(*const works[])(void *) = {make_runs, make_bound_runs, make_asynchronous_runs, open_sessions};
    enum { WORKS = sizeof works / sizeof *works };
    pthread_t threads[WORKS * OF_A_KIND];
    check(t, t->ort->RegisterExecutionProviderLibrary(t->env, "taso", plugin));
    t->shared = open_session(t, true);
    for (int i = 0; i < WORKS * OF_A_KIND; i++)
        pthread_create(&threads[i], NULL, works[i % WORKS], t);
    for (int i = 0; i < WORKS * OF_A_KIND; i++)
        pthread_join(threads[i], NULL);
    t->ort->ReleaseSession(t->shared);
    check(t, t->ort->UnregisterExecutionProviderLibrary(t->env, "taso"));
}

int main(int argc, char **argv)
{
    struct test t = {.ort = OrtGetApiBase()->GetApi(ORT_API_VERSION), .model = argv[2], .threads = argv[3]};
    if (!t.ort || argc != 4)
        return 2;
    check(&t, t.ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "parallel", &t.env));
    find_expected(&t);
    for (int again = 0; again < 2; again++)
        do_all(&t, argv[1]);
    t.ort->ReleaseEnv(t.env);
    puts("done");
    return 0;
}
