// A model on this processor: read, planned, prepared once, run many times.
#include "library/library.h"
#include "library/memory_file.h"

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "core/memory/memory.h"
#include "optimizer/limits.def"
#include "optimizer/run/loaded_model.h"
#include <string.h>

struct taso_session {
    struct memory_file copy;   // of a model that was given in memory
    struct loaded_model loaded;
    struct backend *backend;
    struct model *model;
    struct arena arena;
    struct tensor_value *inputs, *outputs;
};

static bool load(taso_session *s, const struct optimize_options *o, const char *path, struct error *error)
{
    struct import_options options = {
        .shapes = o->shapes.items, .shape_count = o->shapes.count, .fold_limit = o->fold_limit, .expands = true};
    return loaded_model_open(&s->loaded, path, &options, error) && loaded_model_check(&s->loaded, error);
}

static bool prepare(taso_session *s, const struct optimize_options *o, struct error *error)
{
    struct backend_options options = {.threads = (int)o->threads,
                                      .cost_file = o->costs ? o->costs : "",
                                      .is_guest = o->is_guest,
                                      .never_measures = true,
                                      .error_budget = o->is_exact ? 0 : o->tolerance * SHARE_OF_KERNELS};
    const struct loaded_model *m = &s->loaded;
    s->backend = cpu_backend_open(&options, error);
    s->model = s->backend ? loaded_model_prepare(&s->loaded, s->backend, error) : NULL;
    if (!s->model)
        return false;
    s->inputs = arena_array(&s->arena, struct tensor_value, m->n_inputs + 1);
    s->outputs = arena_array(&s->arena, struct tensor_value, m->n_outputs + 1);
    for (size_t i = 0; i < m->n_outputs; i++)
        s->outputs[i].type = *graph_type(m->graph, m->outputs[i].tensor);
    return true;
}

static taso_session *open_path(taso_session *s, const taso_options *options, const char *path, taso_error *ret_error)
{
    struct error error = {.code = EXIT_BAD_INPUT};
    arena_init(&s->arena);
    if (load(s, &options->arguments.optimize, path, &error) && prepare(s, &options->arguments.optimize, &error))
        return s;
    library_report_error(&error, ret_error);
    taso_session_close(s);
    return NULL;
}

static taso_session *new_session(void)
{
    taso_session *s = mem_alloc_zero(sizeof *s);
    s->copy.descriptor = -1;
    return s;
}

taso_session *taso_session_open_file(const taso_options *options, const char *model, taso_error *ret_error)
{
    if (options && model)
        return open_path(new_session(), options, model, ret_error);
    library_refuse(TASO_USAGE, ret_error, "a model and options are needed");
    return NULL;
}

taso_session *taso_session_open_buffer(const taso_options *options, const void *model, size_t size,
                                       taso_error *ret_error)
{
    struct error error = {0};
    if (!options || !model) {
        library_refuse(TASO_USAGE, ret_error, "a model and options are needed");
        return NULL;
    }
    taso_session *s = new_session();
    if (memory_file_open(&s->copy, &error) && memory_file_add(&s->copy, model, size, &error))
        return open_path(s, options, s->copy.path, ret_error);
    library_report_error(&error, ret_error);
    mem_free(s, sizeof *s);
    return NULL;
}

void taso_session_close(taso_session *session)
{
    if (!session)
        return;
    if (session->model)
        model_free(session->model);
    backend_close(session->backend);
    loaded_model_close(&session->loaded);
    memory_file_close(&session->copy);
    arena_free(&session->arena);
    mem_free(session, sizeof *session);
}

size_t taso_session_input_count(const taso_session *session)
{
    return session->loaded.n_inputs;
}

size_t taso_session_output_count(const taso_session *session)
{
    return session->loaded.n_outputs;
}

static taso_tensor describe(const taso_session *s, const struct imported_value *value)
{
    const struct type *type = graph_type(s->loaded.graph, value->tensor);
    return (taso_tensor){.name = value->name,
                         .dtype = dtype_name(type->dtype),
                         .rank = type->rank,
                         .dims = type->dim,
                         .bytes = type_bytes(type)};
}

taso_tensor taso_session_input(const taso_session *session, size_t index)
{
    return describe(session, &session->loaded.inputs[index]);
}

taso_tensor taso_session_output(const taso_session *session, size_t index)
{
    return describe(session, &session->loaded.outputs[index]);
}

taso_status library_session_run(taso_session *session, const struct workers *workers, const void *const *inputs,
                                void *const *outputs, taso_error *ret_error)
{
    struct error error = {.code = EXIT_INTERNAL};
    const struct loaded_model *m = &session->loaded;
    for (size_t i = 0; i < m->n_inputs; i++)
        session->inputs[loaded_model_input_index(m, i)] =
            (struct tensor_value){*graph_type(m->graph, m->inputs[i].tensor), (void *)inputs[i]};
    for (size_t i = 0; i < m->n_outputs; i++)
        session->outputs[i].data = outputs[i];
    bool is_done = model_run_on(session->model, workers, session->inputs, session->outputs, &error);
    return is_done ? TASO_DONE : library_report_error(&error, ret_error);
}

taso_status taso_session_run(taso_session *session, const void *const *inputs, void *const *outputs,
                             taso_error *ret_error)
{
    return library_session_run(session, NULL, inputs, outputs, ret_error);
}

void library_describe_processor(char *ret_text, size_t size)
{
    cpu_describe_processor(ret_text, size);
}
