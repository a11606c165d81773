// Outputs are compared first; then both files are timed by turns, in several loads (run/contest.h).
#include "programs/files_in_runtime.h"

#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/runtime/runtime.h"
#include <stdio.h>

enum { LOADS = 7 };

static bool start(struct runtime *r, const struct files_in_runtime *f, struct error *error)
{
    const char *provider;
    if (!runtime_is_onnxruntime(f->runtime, &provider))
        return error_set_code(error, EXIT_USAGE, NULL, "--runtime is taso or onnxruntime[:PROVIDER], not %s",
                              f->runtime);
    r->is_open = worker_start(&r->worker, f->python, provider, f->threads, error);
    return r->is_open && worker_greet(&r->worker, error);
}

// An input that numpy has no type for is left to the worker.
static bool send_inputs(struct runtime *r, const struct files_in_runtime *f, struct error *error)
{
    bool are_sent = true;
    for (size_t i = 0; are_sent && i < f->model->n_inputs; i++) {
        const struct tensor_value *value = &f->inputs[loaded_model_input_index(f->model, i)];
        if (value->data && value->type.dtype != DTYPE_BF16)
            are_sent = worker_set_input(&r->worker, 0, f->model->inputs[i].name, value, error);
    }
    return are_sent;
}

// --- told ------------------------------------------------------------------------------------------------------------

static void add_time(struct text *out, const char *path, const struct sample_summary *s)
{
    text_add_shown(out, path);
    text_printf(out, "\n  latency  median %.3f ms  (quartiles %.3f .. %.3f, best %.3f, %zu runs)\n", s->median * 1e3,
                s->quartile1 * 1e3, s->quartile3 * 1e3, s->minimum * 1e3, s->count);
}

static void add_result(struct text *out, const struct runtime *r, const struct files_in_runtime *f,
                       const struct side_by_side *t, const output_comparisons *outputs, bool agrees)
{
    bool is_measured = t->gain.n_loads > 0;
    for (int i = 0; is_measured && i < 2; i++)
        add_time(out, f->paths[i], &t->times[i]);
    for (size_t i = 0; i < outputs->count; i++)
        output_print(out, &outputs->items[i]);
    text_add(out, agrees ? "the outputs agree\n" : "the outputs do not agree\n");
    if (is_measured)
        text_printf(out, "the second is %.3f x as fast (95 %% interval %.3f to %.3f, %zu loads) in %s\n", t->gain.ratio,
                    t->gain.low, t->gain.high, t->gain.n_loads, runtime_name(r));
}

static void add_json_of_file(struct text *out, const char *path, const struct sample_summary *s)
{
    json_begin(out, NULL, '{');
    json_add_string(out, "file", path);
    json_add_count(out, "runs", s->count);
    json_add_real(out, "median", s->median);
    json_add_real(out, "quartile1", s->quartile1);
    json_add_real(out, "quartile3", s->quartile3);
    json_add_real(out, "best", s->minimum);
    json_end(out, '}');
}

static bool write_json(const struct runtime *r, const struct files_in_runtime *f, const struct side_by_side *t,
                       const output_comparisons *outputs, bool agrees, struct error *error)
{
    TEXT(out);
    json_begin(&out, NULL, '{');
    json_add_string(&out, "runtime", runtime_name(r));
    json_begin(&out, "models", '[');
    for (int i = 0; i < 2; i++)
        add_json_of_file(&out, f->paths[i], &t->times[i]);
    json_end(&out, ']');
    json_add_real(&out, "speedup", t->gain.ratio);
    json_add_real(&out, "speedup_low", t->gain.low);
    json_add_real(&out, "speedup_high", t->gain.high);
    json_add_count(&out, "loads", t->gain.n_loads);
    json_add_bool(&out, "agrees", agrees);
    outputs_add_json(&out, outputs);
    text_add(&out, "}\n");
    return file_write_text(f->json, out.chars, out.count, error);
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void name_outputs(const struct files_in_runtime *f, output_comparisons *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        outputs->items[i].name = i < f->model->n_outputs ? f->model->outputs[i].name : "";
}

static bool is_told(const struct side_by_side *times, bool agrees, struct error *error)
{
    return !agrees || times->gain.n_loads > 0 ||
           error_set_code(error, EXIT_UNSUPPORTED, NULL, "not measured: %s",
                          times->is_disturbed ? "this machine is busy; --threads 1 is steadier" : "interrupted");
}

static bool compare(struct runtime *r, const struct files_in_runtime *f, output_comparisons *outputs,
                    struct error *error)
{
    struct side_by_side times;
    struct runtime_timing timing = {.seconds = f->seconds, .loads = LOADS};
    TEXT(out);
    if (!start(r, f, error) || !send_inputs(r, f, error) ||
        !runtime_compare(r, f->paths[0], f->paths[1], 1, f->tolerance, outputs, error) ||
        !runtime_time(r, f->paths[0], f->paths[1], &timing, &times, error))
        return false;
    bool agrees = outputs_agree(outputs);
    name_outputs(f, outputs);
    add_result(&out, r, f, &times, outputs, agrees);
    log_show(stdout, out.chars);
    return (!f->json || write_json(r, f, &times, outputs, agrees, error)) && is_told(&times, agrees, error) &&
           (agrees || error_set_code(error, EXIT_CHECK_FAILED, f->paths[1], "its outputs differ, or say nothing"));
}

bool files_in_runtime_compare(const struct files_in_runtime *f, struct error *error)
{
    struct runtime r = {0};
    LOCAL_LIST(output_comparisons, outputs);
    bool is_done = compare(&r, f, &outputs, error);
    if (r.is_open)
        runtime_close(&r);
    return is_done;
}
