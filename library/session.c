// A model on this processor: imported, planned with the layouts of the device, prepared once, run many times.
#include "library/library.h"

#include "backends/cpu/cpu.h"
#include "core/memory/memory.h"
#include "onnx/convert/import.h"
#include "optimizer/run/run.h"
#include <string.h>

struct taso_session {
    struct memory_file copy;   // of a model that was given in memory
    struct onnx_file file;
    struct imported_model imported;
    struct backend *backend;
    struct model *model;
    struct arena arena;
    struct tensor_value *inputs, *outputs;
    bool is_open, is_imported;
};

static bool import(taso_session *s, const struct optimize_options *o, const char *path, struct error *error)
{
    struct import_options options = {
        .shapes = o->shapes.items, .shape_count = o->shapes.count, .fold_limit = o->fold_limit, .expands = true};
    s->is_open = onnx_file_open(&s->file, path, error) && onnx_model_check(s->file.model, path, error);
    s->is_imported = s->is_open && import_model(&s->imported, &s->file, &options, error);
    return s->is_imported && run_check_inputs(&s->imported, error);
}

static bool prepare(taso_session *s, const struct optimize_options *o, struct error *error)
{
    struct backend_options options = {
        .threads = (int)o->threads, .cost_file = o->costs ? o->costs : "", .never_measures = true};
    const struct graph *g = &s->imported.graph;
    int threads = library_threads();
    const struct tensor_value *weights = run_collect_weights(&s->imported, g, error);
    s->backend = weights ? cpu_backend_open(&options, error) : NULL;
    s->model = s->backend ? backend_prepare(s->backend, g, s->imported.weights.count, weights, error) : NULL;
    library_restore_threads(threads);
    if (!s->model)
        return false;
    s->inputs = arena_array(&s->arena, struct tensor_value, s->imported.inputs.count + 1);
    s->outputs = arena_array(&s->arena, struct tensor_value, s->imported.outputs.count + 1);
    for (size_t i = 0; i < s->imported.outputs.count; i++)
        s->outputs[i].type = *graph_type(g, s->imported.outputs.items[i].tensor);
    return true;
}

static taso_session *open_path(taso_session *s, const taso_options *options, const char *path, taso_error *ret_error)
{
    struct error error = {.code = EXIT_BAD_INPUT};
    arena_init(&s->arena);
    if (import(s, &options->arguments.optimize, path, &error) && prepare(s, &options->arguments.optimize, &error))
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
    if (memory_file_open(&s->copy, model, size, &error))
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
    if (session->is_imported)
        imported_model_free(&session->imported);
    if (session->is_open)
        onnx_file_close(&session->file);
    memory_file_close(&session->copy);
    arena_free(&session->arena);
    mem_free(session, sizeof *session);
}

size_t taso_session_input_count(const taso_session *session)
{
    return session->imported.inputs.count;
}

size_t taso_session_output_count(const taso_session *session)
{
    return session->imported.outputs.count;
}

static taso_tensor describe(const taso_session *s, const struct imported_value *value)
{
    const struct type *type = graph_type(&s->imported.graph, value->tensor);
    return (taso_tensor){.name = value->name,
                         .dtype = dtype_name(type->dtype),
                         .rank = type->rank,
                         .dims = type->dim,
                         .bytes = type_bytes(type)};
}

taso_tensor taso_session_input(const taso_session *session, size_t index)
{
    return describe(session, &session->imported.inputs.items[index]);
}

taso_tensor taso_session_output(const taso_session *session, size_t index)
{
    return describe(session, &session->imported.outputs.items[index]);
}

taso_status taso_session_run(taso_session *session, const void *const *inputs, void *const *outputs,
                             taso_error *ret_error)
{
    struct error error = {.code = EXIT_INTERNAL};
    const struct imported_model *m = &session->imported;
    for (size_t i = 0; i < m->inputs.count; i++) {
        tensor_id t = m->inputs.items[i].tensor;
        size_t index = (size_t)graph_producer(&m->graph, t)->attributes[0].ints[0];
        session->inputs[index] = (struct tensor_value){*graph_type(&m->graph, t), (void *)inputs[i]};
    }
    for (size_t i = 0; i < m->outputs.count; i++)
        session->outputs[i].data = outputs[i];
    int threads = library_threads();
    bool is_done = model_run(session->model, session->inputs, session->outputs, &error);
    library_restore_threads(threads);
    return is_done ? TASO_DONE : library_report_error(&error, ret_error);
}
