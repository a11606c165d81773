// A runtime that fails at the original, or ends, is done without from then on, and that is said once.
#include "optimizer/measure/runtime_verdict.h"

#include "backends/backend.h"
#include "onnx/format/model_save.h"
#include "optimizer/measure/contenders.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/system/cores.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/job/model_export.h"
#include "optimizer/limits.def"
#include "optimizer/runtime/command.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LOADS_OF_A_PAIR = 3, LOADS_OF_A_VERDICT = 7 };

// --- which one -------------------------------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// Nobody said which: that of whoever writes an ONNX model for the processor and lets it be timed.
static bool is_onnxruntime_likely(const struct optimize_options *options)
{
    return !options->runtime && options->device == DEVICE_CPU && !options->is_timing_skipped && options->output &&
           ends_with(options->output, ".onnx");
}

// A Python without ONNX Runtime is worth an error only to whoever asked for it.
static bool is_onnxruntime_asked_for(const struct optimize_options *options)
{
    return options->runtime || options->python;
}

// Nobody said how many: as many as the runtime takes by itself, which knows of no control groups.
static int threads_there(const struct optimize_options *options)
{
    return options->threads == 0 && cores_are_limited() ? cores_available() : (int)options->threads;
}

static bool start_worker(struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    const char *provider = NULL;
    struct error error = {0};
    if (options->runtime)
        runtime_is_onnxruntime(options->runtime, &provider);
    o->runtime.is_open = worker_start(&o->runtime.worker, options->python, provider, threads_there(options), &error);
    if (o->runtime.is_open || !is_onnxruntime_asked_for(options))
        return true;
    *o->error = error;
    return false;
}

// The result is compared there also where nothing is timed.
static bool is_check_wanted(const struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    const char *provider;
    bool is_there =
        options->runtime ? runtime_is_onnxruntime(options->runtime, &provider) : options->device == DEVICE_CPU;
    return is_there && options->is_timing_skipped && !o->runtime.is_open && !options->is_check_skipped &&
           !options->measure_command && options->output && ends_with(options->output, ".onnx");
}

// Whoever names a Python that only compares is told before the search that it cannot.
static bool has_onnxruntime(struct optimizing *o)
{
    bool has = worker_start(&o->runtime.worker, o->options->python, NULL, 1, o->error) &&
               worker_greet(&o->runtime.worker, o->error);
    runtime_close(&o->runtime);
    return has;
}

bool optimizing_open_runtime(struct optimizing *o)
{
    const char *wanted = o->options->runtime, *provider;
    bool is_onnxruntime = wanted && runtime_is_onnxruntime(wanted, &provider);
    if (wanted && strcmp(wanted, "taso") != 0 && !is_onnxruntime)
        return error_set_code(o->error, EXIT_USAGE, NULL, "--runtime is taso or onnxruntime[:PROVIDER], not %s",
                              wanted);
    if (o->options->measure_command) {
        o->runtime = (struct runtime){.command = o->options->measure_command, .is_open = true};
        return true;
    }
    bool is_wanted = wanted ? is_onnxruntime : is_onnxruntime_likely(o->options);
    return is_wanted ? start_worker(o) : !o->options->python || !is_check_wanted(o) || has_onnxruntime(o);
}

void optimizing_close_runtime(struct optimizing *o)
{
    step_costs_close(o->search.step_costs);
    runtime_close(&o->runtime);
    temporary_folder_remove(&o->results.folder);
}

// --- inputs ----------------------------------------------------------------------------------------------------------

// A model with symbols has one for each profile, then one for each of the sizes that it is checked at.
static int n_sets(const struct optimizing *o)
{
    return o->inputs.cut.sizes ? (int)(o->inputs.bindings.n_profiles + o->inputs.bindings.n_checks)
                               : (int)o->options->rounds;
}

static const int64_t *binding_of_set(const struct optimizing *o, int set)
{
    const struct size_bindings *b = &o->inputs.bindings;
    return !o->inputs.cut.sizes          ? o->inputs.cut.binding
           : (size_t)set < b->n_profiles ? b->profiles[set]
                                         : b->checks[(size_t)set - b->n_profiles];
}

// Inputs that only nodes read which are kept as they are get values, too.
static void fill_inputs(struct model_inputs *ret_inputs, const struct optimizing *o, int set, struct arena *arena)
{
    struct graph leaves FREED_BY(graph_free);
    graph_init(&leaves, arena);
    for (size_t i = 0; i < o->model.inputs.count; i++) {
        struct type type = *graph_type(&o->model.graph, o->model.inputs.items[i].tensor);
        if (o->inputs.cut.sizes)
            type = sizes_type_at(o->inputs.cut.sizes, &type, binding_of_set(o, set));
        if (type_is_known(&type) && (dtype_is_number(type.dtype) || type.dtype == DTYPE_BOOL))
            graph_add_output(&leaves, graph_add_leaf(&leaves, operators[OP_INPUT], (int64_t)i, &type));
    }
    model_inputs_fill(ret_inputs, &leaves, o->model.inputs.count,
                      random_keyed((uint64_t)o->options->seed, (uint64_t)set), o->runtime.index_limit, arena);
    model_inputs_vary(ret_inputs, o->runtime.attempt);
}

// An input that has no value here, or none in numpy, is left to the worker, which makes something up or says that it
// cannot.
static bool send_inputs(struct optimizing *o, int set, struct arena *scratch, struct error *error)
{
    struct model_inputs inputs;
    fill_inputs(&inputs, o, set, scratch);
    if (set == 0 && o->runtime.attempt == 0)
        model_inputs_give(&inputs, &o->inputs.given);
    for (size_t i = 0; i < o->model.inputs.count; i++) {
        const struct tensor_value *value = &inputs.values[i];
        if (value->data && value->type.dtype != DTYPE_BF16 &&
            !worker_set_input(&o->runtime.worker, set, o->model.inputs.items[i].name, value, error))
            return false;
    }
    return true;
}

static bool send_all_inputs(struct optimizing *o, struct error *error)
{
    ARENA(scratch);
    bool are_sent = true;
    for (int set = 0; are_sent && set < n_sets(o); set++) {
        ARENA_MARK(mark, &scratch);
        are_sent = send_inputs(o, set, &scratch, error);
    }
    return are_sent;
}

static void add_profiles(struct text *sizes, const struct optimizing *o)
{
    for (size_t i = 0; o->inputs.cut.sizes && i < o->inputs.bindings.n_profiles; i++) {
        text_add(sizes, i ? "; " : " (at ");
        profile_print(sizes, &o->model, o->inputs.bindings.profiles[i]);
    }
    text_add(sizes, sizes->count ? "; --profile says other sizes)" : "");
}

void optimizing_do_without_runtime(struct optimizing *o, const struct error *error)
{
    TEXT(sizes);
    if (interrupt_requested()) {
        runtime_close(&o->runtime);
        return;
    }
    add_profiles(&sizes, o);
    o->report.there.refused_by = arena_string(&o->model.arena, error->message);
    log_warning(o->options->log, "%s%s; %s", error->message, sizes.chars,
                backend_can_run(o->backend) ? "models are timed by our own executor instead" : "models are not timed");
    runtime_close(&o->runtime);
}

static bool greet(struct optimizing *o)
{
    struct error error = {0};
    if (worker_greet(&o->runtime.worker, &error))
        return true;
    runtime_close(&o->runtime);
    if (is_onnxruntime_asked_for(o->options)) {
        *o->error = error;
        return false;
    }
    if (o->runtime.worker.was_late)
        log_warning(o->options->log, "%s; models are timed in our own executor", error.message);
    else
        log_info(o->options->log, "%s", error.message);
    return true;
}

// The search without them goes by the costs of our own executor.
static void open_step_costs(struct optimizing *o)
{
    struct error error = {0};
    struct step_costs_options options = {.device = o->backend->device,
                                         .cost_file = o->options->costs,
                                         .opset = o->model.opset,
                                         .weight_bytes = optimizing_bytes_of_weights(o),
                                         .tries_costs =
                                             !o->options->is_timing_skipped && !o->options->is_calibration_skipped,
                                         .log = o->options->log};
    o->search.step_costs = step_costs_open(&o->runtime.worker, &options, &error);
    if (!o->search.step_costs)
        log_warning(o->options->log, "%s; steps cost what they do in our own executor", error.message);
}

static bool runs_on_set(struct optimizing *o, int set)
{
    ARENA(scratch);
    struct error error = {0};
    LOCAL_LIST(worker_numbers, numbers);
    return send_inputs(o, set, &scratch, &error) &&
           worker_compare(&o->runtime.worker, "a", "a", set + 1, &numbers, &error);
}

// The sizes that a model takes are not written in it: two symbols may have to be equal. Where the original fails it is
// checked at a multiple of the profile instead, or not.
static void find_sizes_to_check(struct optimizing *o)
{
    struct size_bindings *b = &o->inputs.bindings;
    for (size_t i = 0; o->inputs.cut.sizes && i < b->n_checks && !o->runtime.worker.is_gone;) {
        int set = (int)(b->n_profiles + i);
        if (!runs_on_set(o, set)) {
            for (uint32_t j = 0; j < o->inputs.cut.sizes->n_symbols; j++)
                b->checks[i][j] = b->profiles[0][j] * ((int64_t)i + 2);
            if (!profile_is_typed(&o->model, &o->inputs.cut, b->checks[i]) || !runs_on_set(o, set)) {
                bindings_drop_check(b, i);
                continue;
            }
        }
        i++;
    }
}

static bool has_integers(const struct optimizing *o)
{
    return ANY(size_t, i, o->model.inputs.count,
               dtype_is_integer(graph_type(&o->model.graph, o->model.inputs.items[i].tensor)->dtype));
}

static bool runs_with_integers_below(struct optimizing *o, int64_t limit, struct error *error)
{
    double seconds;
    *error = (struct error){0};
    o->runtime.index_limit = limit;
    return send_all_inputs(o, error) && worker_run(&o->runtime.worker, "a", &seconds, error);
}

// Integers are mostly indices, of tables of two rows too.
static bool runs_with_integers(struct optimizing *o, struct error *error)
{
    static const int64_t limits[] = {INDEX_LIMIT, 2, 1};
    return ANY(size_t, i, (has_integers(o) ? sizeof limits / sizeof limits[0] : 1),
               !o->runtime.worker.is_gone && runs_with_integers_below(o, limits[i], error));
}

// A run at the profile, but for one symbol.
static bool runs_at(struct optimizing *o, size_t symbol, int64_t size)
{
    struct error error;
    int64_t *profile = o->inputs.bindings.profiles[0], former = profile[symbol];
    profile[symbol] = size;
    bool is_run = profile_is_typed(&o->model, &o->inputs.cut, profile) && runs_with_integers_below(o, 1, &error) &&
                  runs_with_integers(o, &error);
    if (is_run)
        memcpy(o->inputs.cut.binding, profile, sizeof o->inputs.cut.binding);
    else
        profile[symbol] = former;
    return is_run;
}

// A size that nobody says may be the sum of two others, as a mask's for what is remembered and what is new.
static bool runs_with_a_sum(struct optimizing *o)
{
    const int64_t *profile = o->inputs.bindings.profiles[0];
    size_t n = o->options->profiles.count || o->options->inputs ? 0 : o->model.symbols.list.count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = j + 1; k < n; k++)
                if (i != j && i != k && runs_at(o, i, profile[j] + profile[k]))
                    return true;
    return false;
}

// The original is there as "a", with all inputs, and was run.
static bool run_original(struct optimizing *o, struct error *error)
{
    struct worker *w = &o->runtime.worker;
    bool is_run = worker_time_sets(w, o->inputs.cut.sizes ? (int)o->inputs.bindings.n_profiles : 1, error) &&
                  worker_load_file(w, "a", o->options->input, error) &&
                  (runs_with_integers(o, error) || runs_with_a_sum(o));
    if (is_run)
        find_sizes_to_check(o);
    return is_run;
}

// A runtime that somebody names is where the model is to run.
static bool is_refused(struct optimizing *o, const struct error *error)
{
    TEXT(sizes);
    if (!o->options->runtime || interrupt_requested())
        return false;
    add_profiles(&sizes, o);
    error_set_code(o->error, EXIT_UNSUPPORTED, o->options->input, "%s%s", error->message,
                   sizes.chars ? sizes.chars : "");
    return true;
}

bool optimizing_prepare_runtime(struct optimizing *o)
{
    struct error error = {0};
    double seconds;
    o->runtime.has_apart = optimizing_has_large_weights(o);
    if (o->runtime.command)
        return command_measure(o->runtime.command, o->options->input, &seconds, o->error);
    if (!runtime_compares(&o->runtime))
        return true;
    if (!greet(o))
        return false;
    if (o->runtime.is_open && !run_original(o, &error)) {
        if (is_refused(o, &error))
            return false;
        optimizing_do_without_runtime(o, &error);
    }
    if (o->runtime.is_open)
        open_step_costs(o);
    return true;
}

// --- files -----------------------------------------------------------------------------------------------------------

bool runtime_file_write(struct optimizing *o, struct onnx_model *model, const char *name, struct runtime_file *ret_file,
                        struct error *error)
{
    if (!o->results.folder.path[0] && !temporary_folder_make(&o->results.folder, error))
        return false;
    snprintf(ret_file->path, sizeof ret_file->path, "%s/%s.onnx", o->results.folder.path, name);
    snprintf(ret_file->data, sizeof ret_file->data, "%s.data", ret_file->path);
    return onnx_model_write(model, &o->file, ret_file->path, 0, NULL, error);
}

void runtime_file_remove(const struct runtime_file *f)
{
    unlink(f->path);
    unlink(f->data);
}

bool runtime_file_write_graph(struct optimizing *o, const struct graph *g, const char *name,
                              struct runtime_file *ret_file, struct error *error)
{
    struct onnx_model *model;
    return optimizing_export(o, g, &model, NULL, error) && runtime_file_write(o, model, name, ret_file, error);
}

// --- timing ----------------------------------------------------------------------------------------------------------

bool optimizing_time_pair_in_runtime(struct optimizing *o, const struct graph *a, const struct graph *b, double seconds,
                                     double deadline, struct side_by_side *ret_times)
{
    struct runtime_file files[2] = {{{0}, {0}}, {{0}, {0}}};
    struct error error = {0};
    struct runtime_timing timing = {
        .seconds = seconds, .deadline = o->time.limit.seconds > 0 ? deadline : 0, .loads = LOADS_OF_A_PAIR};
    bool is_done = runtime_file_write_graph(o, a, "first", &files[0], &error) &&
                   runtime_file_write_graph(o, b, "second", &files[1], &error) &&
                   runtime_time(&o->runtime, files[0].path, files[1].path, &timing, ret_times, &error);
    if (!is_done)
        log_info(o->options->log, "%s", error.message);
    if (o->runtime.worker.is_gone && !o->runtime.command)
        optimizing_do_without_runtime(o, &error);
    runtime_file_remove(&files[0]);
    runtime_file_remove(&files[1]);
    return is_done && ret_times->gain.n_loads > 0;
}

static void name_runtime_outputs(struct optimizing *o, struct runtime_verdict *v)
{
    for (size_t i = 0; i < v->outputs.count && i < o->model.outputs.count; i++)
        v->outputs.items[i].name = o->model.outputs.items[i].name;
}

// Comparisons with other inputs, as long as some outputs are not finite or constant. Those that the original does not
// take tell nothing.
static bool compare_with_other_inputs(struct optimizing *o, const char *path, double tolerance,
                                      struct runtime_verdict *v, struct error *error)
{
    LOCAL_LIST(output_comparisons, more);
    struct error ignored = {0};
    double started = clock_seconds();
    bool is_changed = false;
    for (o->runtime.attempt = 1;
         o->runtime.attempt < INPUT_ATTEMPTS && !outputs_are_trustworthy(&v->outputs) && !o->runtime.worker.is_gone &&
         !interrupt_requested() && clock_seconds() - started < SECONDS_OF_ATTEMPTS;
         o->runtime.attempt++) {
        is_changed = true;
        if (send_all_inputs(o, &ignored) &&
            runtime_compare(&o->runtime, o->options->input, path, n_sets(o), tolerance, &more, &ignored))
            outputs_merge(&v->outputs, &more);
    }
    o->runtime.attempt = 0;
    return !is_changed || send_all_inputs(o, error);
}

static bool agree_in_runtime(struct optimizing *o, const char *path, struct runtime_verdict *v, struct error *error)
{
    double tolerance = comparison_tolerance(&o->model.graph, o->options->allows_tf32, o->options->tolerance);
    if (!runtime_compares(&o->runtime) || o->options->is_check_skipped)
        return true;
    if (!runtime_compare(&o->runtime, o->options->input, path, n_sets(o), tolerance, &v->outputs, error) ||
        !compare_with_other_inputs(o, path, tolerance, v, error))
        return false;
    name_runtime_outputs(o, v);
    report_note_never_finite(&o->report, &v->outputs);
    if (o->report.check.verdict == CHECK_SKIPPED)
        o->report.check.tolerance = tolerance;
    for (size_t i = 0; i < v->outputs.count; i++)
        v->differs = v->differs || !v->outputs.items[i].is_equal_enough;
    return true;
}

// Seconds by costs that were measured there; 0: they are not known, or of a part of the model alone.
static double expected_seconds(const struct optimizing *o)
{
    double seconds = o->results.found.seconds_before;
    return o->search.step_costs && !o->inputs.cut.is_needed && isfinite(seconds) ? seconds : 0;
}

static bool time_there(struct optimizing *o, const char *path, struct side_by_side *ret_times, struct error *error)
{
    double expected[2] = {expected_seconds(o), 0};
    struct runtime_timing timing = {.seconds = o->options->measure_seconds,
                                    .deadline = time_limit_of_timing(&o->time.limit),
                                    .loads = LOADS_OF_A_VERDICT,
                                    .expected = expected};
    if (!runtime_time(&o->runtime, o->options->input, path, &timing, ret_times, error))
        return false;
    if (!ret_times->is_disturbed || o->options->threads == 1 || !runtime_use_one_thread(&o->runtime, error))
        return true;
    timing.expected = NULL;
    optimizing_tell_of_one_thread(o);
    return runtime_time(&o->runtime, o->options->input, path, &timing, ret_times, error);
}

bool optimizing_judge_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict)
{
    struct runtime_file file = {{0}, {0}};
    struct error error = {0};
    vec_free(&ret_verdict->outputs);
    *ret_verdict = (struct runtime_verdict){0};
    bool is_written = runtime_file_write_graph(o, g, "result", &file, &error);
    bool is_judged = is_written && agree_in_runtime(o, file.path, ret_verdict, &error) &&
                     (ret_verdict->differs || time_limit_is_over(&o->time.limit) ||
                      time_there(o, file.path, &ret_verdict->times, &error));
    bool is_said = ret_verdict->times.gain.n_loads > 0;
    ret_verdict->is_timed = is_judged && !ret_verdict->differs && is_said;
    o->report.timing.is_cut = o->report.timing.is_cut || (is_judged && !ret_verdict->differs && !is_said);
    o->report.timing.is_disturbed = o->report.timing.is_disturbed || ret_verdict->times.is_disturbed;
    runtime_file_remove(&file);
    if (!is_judged && (o->runtime.command || !o->runtime.worker.is_gone)) {
        ret_verdict->failure = arena_string(&o->model.arena, error.message);
        return true;
    }
    if (!is_judged)
        optimizing_do_without_runtime(o, &error);
    return is_judged;
}

// --- without timing --------------------------------------------------------------------------------------------------

static void check_there(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict)
{
    struct runtime_file file = {{0}, {0}};
    struct error error = {0};
    o->report.there.name = arena_string(&o->model.arena, runtime_name(&o->runtime));
    if (!runtime_file_write_graph(o, g, "result", &file, &error) ||
        !agree_in_runtime(o, file.path, ret_verdict, &error))
        ret_verdict->failure = arena_string(&o->model.arena, error.message);
    runtime_file_remove(&file);
}

void optimizing_check_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict)
{
    struct error error = {0};
    vec_free(&ret_verdict->outputs);
    *ret_verdict = (struct runtime_verdict){0};
    if (runtime_compares(&o->runtime) && !o->options->is_check_skipped)
        check_there(o, g, ret_verdict);
    if (!is_check_wanted(o) || !worker_start(&o->runtime.worker, o->options->python, NULL, 1, &error))
        return;
    o->runtime.is_open = true;
    if (worker_greet(&o->runtime.worker, &error) && run_original(o, &error))
        check_there(o, g, ret_verdict);
    else
        log_info(o->options->log, "%s: the result is not compared there", error.message);
    runtime_close(&o->runtime);
}
