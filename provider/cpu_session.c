// The environment is the one that the caller's sessions have.
#include "provider/cpu_session.h"

#include "core/system/clock.h"
#include "core/text/error.h"
#include <string.h>

static bool create(struct cpu_session *s, const OrtSessionOptions *options, const char *path, struct error *error)
{
    OrtStatus *status = s->runtime->api->CreateSession(s->env, path, options, &s->session);
    if (!status)
        return true;
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", s->runtime->api->GetErrorMessage(status));
    s->runtime->api->ReleaseStatus(status);
    return false;
}

// Threads that wait for work in a loop between runs would take the processors of the session that is timed beside it.
static bool make_options(struct cpu_session *s, int threads, OrtSessionOptions **ret_options)
{
    const OrtApi *api = s->runtime->api;
    return runtime_is_done(s->runtime, api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "taso", &s->env)) &&
           runtime_is_done(s->runtime, api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &s->memory)) &&
           runtime_is_done(s->runtime, api->CreateSessionOptions(ret_options)) &&
           runtime_is_done(s->runtime, api->SetIntraOpNumThreads(*ret_options, threads)) &&
           runtime_is_done(s->runtime, api->AddSessionConfigEntry(*ret_options, "session.force_spinning_stop", "1"));
}

// The provider has the options that this one was given, and the device that it was given for.
static bool add_provider(struct cpu_session *s, OrtSessionOptions *options)
{
    const OrtApi *api = s->runtime->api;
    const OrtEpDevice *const *devices;
    size_t n = 0, ours = 0;
    bool is_done = runtime_is_done(s->runtime, api->GetEpDevices(s->env, &devices, &n));
    while (is_done && ours < n && strcmp(api->EpDevice_EpName(devices[ours]), PROVIDER_NAME) != 0)
        ours++;
    for (size_t i = 0; is_done && i < s->runtime->n_entries; i++)
        is_done = runtime_is_done(s->runtime,
                                  api->AddSessionConfigEntry(options, s->runtime->keys[i], s->runtime->values[i]));
    return is_done && ours < n &&
           runtime_is_done(s->runtime, api->SessionOptionsAppendExecutionProvider_V2(options, s->env, &devices[ours], 1,
                                                                                     NULL, NULL, 0));
}

static bool open_with(struct cpu_session *s, const char *path, bool is_ours, int threads, struct error *error)
{
    OrtSessionOptions *options = NULL;
    bool is_ready = make_options(s, threads, &options) && (!is_ours || add_provider(s, options));
    if (!is_ready)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "ONNX Runtime opens no session");
    is_ready = is_ready && create(s, options, path, error);
    if (options)
        s->runtime->api->ReleaseSessionOptions(options);
    return is_ready;
}

bool cpu_session_open(struct cpu_session *ret_session, const struct runtime *r, const struct model_bytes *model,
                      const char *compiled, int threads, struct arena *arena, struct error *error)
{
    *ret_session =
        (struct cpu_session){.runtime = r, .n_inputs = model->inputs.count, .n_outputs = model->outputs.count};
    ret_session->input_names = arena_array(arena, const char *, model->inputs.count + 1);
    ret_session->output_names = arena_array(arena, const char *, model->outputs.count + 1);
    for (size_t i = 0; i < model->inputs.count; i++)
        ret_session->input_names[i] = model->inputs.items[i].name;
    for (size_t i = 0; i < model->outputs.count; i++)
        ret_session->output_names[i] = model->outputs.items[i].name;
    double start = clock_seconds();
    bool is_open = open_with(ret_session, compiled ? compiled : model->file.path, compiled != NULL, threads, error);
    ret_session->seconds_to_open = clock_seconds() - start;
    return is_open;
}

void cpu_session_close(struct cpu_session *s)
{
    if (s->session)
        s->runtime->api->ReleaseSession(s->session);
    if (s->memory)
        s->runtime->api->ReleaseMemoryInfo(s->memory);
    if (s->env)
        s->runtime->api->ReleaseEnv(s->env);
    *s = (struct cpu_session){0};
}

OrtStatus *cpu_session_run(const struct cpu_session *s, const OrtValue *const *inputs, OrtValue **outputs)
{
    return s->runtime->api->Run(s->session, NULL, s->input_names, inputs, s->n_inputs, s->output_names, s->n_outputs,
                                outputs);
}
