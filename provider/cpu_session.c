// The environment is the one that the caller's sessions have.
#include "provider/cpu_session.h"

#include "core/system/file.h"
#include "core/text/error.h"

static bool create(struct cpu_session *s, const OrtSessionOptions *options, const struct model_bytes *model,
                   struct error *error)
{
    struct file_map map;
    if (!file_map_open(&map, model->file.path, error))
        return false;
    OrtStatus *status = s->runtime->api->CreateSessionFromArray(s->env, map.bytes, map.size, options, &s->session);
    file_map_close(&map);
    if (!status)
        return true;
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", s->runtime->api->GetErrorMessage(status));
    s->runtime->api->ReleaseStatus(status);
    return false;
}

static bool open_with(struct cpu_session *s, const struct model_bytes *model, int threads, struct error *error)
{
    const OrtApi *api = s->runtime->api;
    OrtSessionOptions *options = NULL;
    bool is_ready =
        runtime_is_done(s->runtime, api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "taso", &s->env)) &&
        runtime_is_done(s->runtime, api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &s->memory)) &&
        runtime_is_done(s->runtime, api->CreateSessionOptions(&options)) &&
        runtime_is_done(s->runtime, api->SetIntraOpNumThreads(options, threads));
    if (!is_ready)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "ONNX Runtime opens no session");
    is_ready = is_ready && create(s, options, model, error);
    if (options)
        api->ReleaseSessionOptions(options);
    return is_ready;
}

bool cpu_session_open(struct cpu_session *ret_session, const struct runtime *r, const struct model_bytes *model,
                      int threads, struct arena *arena, struct error *error)
{
    *ret_session =
        (struct cpu_session){.runtime = r, .n_inputs = model->inputs.count, .n_outputs = model->outputs.count};
    ret_session->input_names = arena_array(arena, const char *, model->inputs.count + 1);
    ret_session->output_names = arena_array(arena, const char *, model->outputs.count + 1);
    for (size_t i = 0; i < model->inputs.count; i++)
        ret_session->input_names[i] = model->inputs.items[i].name;
    for (size_t i = 0; i < model->outputs.count; i++)
        ret_session->output_names[i] = model->outputs.items[i].name;
    return open_with(ret_session, model, threads, error);
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
