// The job from top to bottom: device, rules, model, search, check, and what is written.
#include "onnx/convert/import/import.h"
#include "onnx/convert/symbolic/import_symbolic.h"
#include "onnx/format/model_file.h"
#include "optimizer/job/optimization.h"
#include "optimizer/optimize/compilation.h"
#include "optimizer/optimize/fill_report.h"

#include "backends/backend.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cpu.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/system/machine_load.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "onnx/format/foreign.h"
#include "optimizer/compiled/compiled_model.h"
#include "optimizer/job/model_export.h"
#include "optimizer/limits.def"
#include "optimizer/measure/runtime_verdict.h"
#include "optimizer/optimize/failed_rewrites.h"
#include "optimizer/optimize/judgement.h"
#include "optimizer/optimize/optimize.h"
#include "optimizer/optimize/rules.h"
#include "optimizer/optimize/tuning_phase.h"
#include "optimizer/optimize/write_model.h"
#include "optimizer/run/model_weights.h"
#include "optimizer/run/npy.h"
#include "optimizer/search/result.h"
#include <math.h>
#include <string.h>

// --- opening ---------------------------------------------------------------------------------------------------------

static bool open_backend(struct optimizing *o)
{
    struct backend_options chosen = optimizing_backend_options(o);
    o->backend = optimizing_open_device(o, &chosen, o->error);
    o->checker = o->backend;
    if (!o->backend || backend_can_run(o->backend) || o->options->device == DEVICE_FAKE)
        return o->backend != NULL;
    chosen.cost_file = "";
    o->checker = cpu_backend_open(&chosen, o->error);
    return o->checker != NULL;
}

static void close_backends(struct optimizing *o)
{
    if (o->checker != o->backend)
        backend_close(o->checker);
    backend_close(o->backend);
}

static void tell_of_unbound_inputs(const struct optimizing *o)
{
    if (o->model.symbols.n_unbound > 0)
        log_warning(o->options->log,
                    "%s: sizes are not known of %zu of %zu input%s, and what depends on them is kept as it is: --shape "
                    "gives them",
                    o->options->input, o->model.symbols.n_unbound, o->model.inputs.count,
                    plural_ending(o->model.inputs.count));
}

// Files are checked that the model names, too.
static bool check_files(struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    size_t n = options->n_files;
    struct used_file *files = arena_array(&o->arena, struct used_file, n + o->file.externals.count);
    if (n)
        memcpy(files, options->files, n * sizeof *files);
    for (size_t i = 0; i < o->file.externals.count; i++)
        files[n++] = (struct used_file){"the model's external data", o->file.externals.items[i].path, FILE_READ};
    if (!files_used_check(files, n, o->error))
        return false;
    if (o->file.externals.count && options->output && !file_can_be_replaced(options->output))
        return error_set_code(o->error, EXIT_USAGE, options->output,
                              "is no regular file, and the model's external data goes beside it");
    return true;
}

static bool open_file(struct optimizing *o)
{
    const char *path = o->options->input;
    if (compiled_model_is_at(path))
        return error_set(o->error, path, 0, 0, "is a compiled model: only taso-run and the library take these");
    return onnx_file_open(&o->file, path, o->error);
}

// The inputs alone, with the sizes of the first profile.
static const struct imported_value *inputs_at_profile(struct optimizing *o, struct graph *ret_graph)
{
    const struct imported_model *m = &o->model;
    struct imported_value *inputs = arena_array(&o->arena, struct imported_value, m->inputs.count + 1);
    graph_init(ret_graph, &o->arena);
    for (size_t i = 0; i < m->inputs.count; i++) {
        const struct type *type = graph_type(&m->graph, m->inputs.items[i].tensor);
        struct type at = o->inputs.cut.sizes ? sizes_type_at(o->inputs.cut.sizes, type, o->inputs.cut.binding) : *type;
        tensor_id leaf = graph_add_leaf(ret_graph, operators[OP_INPUT], (int64_t)i, &at);
        inputs[i] = (struct imported_value){m->inputs.items[i].name, leaf};
    }
    return inputs;
}

static bool read_given_inputs(struct optimizing *o)
{
    size_t n = o->model.inputs.count;
    struct graph g FREED_BY(graph_free) = {0};
    if (!o->options->inputs)
        return true;
    const struct imported_value *inputs = inputs_at_profile(o, &g);
    o->inputs.given = (struct model_inputs){n, arena_array(&o->arena, struct tensor_value, n + 1)};
    return npy_read_inputs(o->options->inputs, &g, inputs, n, o->inputs.given.values, &o->arena, o->error);
}

// Neither here nor in the runtime is anything compared: only a device that runs does, or ONNX Runtime.
static bool is_unchecked(const struct optimizing *o)
{
    bool runs = o->options->device != DEVICE_FAKE || (o->runtime.is_open && !o->runtime.command);
    return o->options->is_check_skipped || !runs;
}

static struct import_options import_options_of(const struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    bool compiles = optimizing_compiles(options);
    return (struct import_options){.shapes = options->shapes.items,
                                   .shape_count = options->shapes.count,
                                   .fold_limit = options->fold_limit,
                                   .expands = compiles,
                                   .keeps_rounding = options->keeps_nan || (!compiles && is_unchecked(o)),
                                   .log = options->log};
}

static bool open_model(struct optimizing *o)
{
    struct import_options import = import_options_of(o);
    interrupt_end_at_once(true);
    bool is_imported = optimizing_compiles(o->options) ? import_model(&o->model, &o->file, &import, o->error)
                                                       : import_symbolic(&o->model, &o->file, &import, o->error);
    interrupt_end_at_once(false);
    if (!is_imported)
        return false;
    o->weight_source = model_weight_source(&o->model);
    tell_of_unbound_inputs(o);
    return true;
}

// Layouts of ours are nothing that another runtime has.
static void choose_layouts(struct optimizing *o)
{
    o->search.layout = (enum layout_strategy)o->options->layout;
    if (o->search.layout == STRATEGY_AUTO)
        o->search.layout = o->runtime.is_open ? STRATEGY_STANDARD : STRATEGY_JOINT;
}

// Nor are kernels of ours.
static void allow_errors(struct optimizing *o)
{
    bool is_own = o->options->device == DEVICE_CPU && !o->runtime.is_open && !o->options->measure_command;
    o->backend->options.error_budget =
        is_own && !o->options->is_exact && !o->options->keeps_nan ? o->options->tolerance * SHARE_OF_KERNELS : 0;
}

// A model that cannot be run cannot be checked: better said before the search than after.
static bool has_room_for_check(struct optimizing *o)
{
    struct graph runnable FREED_BY(graph_free) = {0};
    if (!backend_can_run(o->checker) || (o->options->is_check_skipped && !optimizing_is_timed(o)))
        return true;
    graph_cut(&runnable, &o->model.graph, NULL, &o->inputs.cut);
    return backend_has_room(o->checker, &runnable, NULL, o->error) ||
           error_set_code(o->error, EXIT_UNSUPPORTED, o->options->input,
                          "%s; --no-check --no-measure optimizes without running it", o->error->message);
}

// Sizes of the user's arrays, for the symbols that stand in their shapes; 0: none.
static void find_given_sizes(struct optimizing *o, int64_t *ret_sizes)
{
    for (size_t i = 0; i < o->model.symbols.list.count; i++) {
        const struct imported_symbol *s = &o->model.symbols.list.items[i];
        struct type shape;
        bool is_given = o->options->inputs && npy_find_shape(o->options->inputs, o->model.inputs.items[s->input].name,
                                                             s->input, &shape, &o->arena);
        ret_sizes[i] = is_given && (int)s->axis < shape.rank ? shape.dim[s->axis] : 0;
    }
}

// The model stands for all sizes; it is run and priced at those of the profiles.
static bool choose_sizes(struct optimizing *o)
{
    int64_t given[MAX_SYMBOLS];
    if (o->model.symbols.list.count == 0)
        return o->options->profiles.count == 0 ||
               error_set_code(o->error, EXIT_USAGE, o->options->input,
                              "has no symbolic dimension that --profile could give sizes");
    o->inputs.cut.sizes = &o->model.symbols.sizes;
    o->inputs.cut.is_needed = true;
    o->report.model = &o->model;
    o->report.bindings = &o->inputs.bindings;
    find_given_sizes(o, given);
    struct import_options import = import_options_of(o);
    struct profile_request request = {
        &o->model, &import, &o->inputs.cut, &o->options->profiles, given, (uint64_t)o->options->seed};
    if (!profiles_choose(&o->inputs.bindings, &request, o->error))
        return false;
    memcpy(o->inputs.cut.binding, o->inputs.bindings.profiles[0], sizeof o->inputs.cut.binding);
    if (o->options->search != SEARCH_BACKTRACKING)
        log_warning(o->options->log, "%s has symbolic dimensions, for which only backtracking searches",
                    o->options->input);
    return read_given_inputs(o);
}

static const char *reason_not_to_measure(struct optimizing *o)
{
    TEXT(load);
    if (!o->report.timing.is_disturbed)
        return time_limit_ends(&o->time.limit) ? "the time was over before the result was seen to be faster"
                                               : "it was interrupted before the result was seen to be faster";
    machine_print_load(&load);
    const char *reason =
        arena_printf(&o->model.arena, "it is not measured: this machine is busy (%s)", load.chars ? load.chars : "");
    return reason;
}

static void decide(struct optimizing *o)
{
    struct report *r = &o->report;
    if (o->options->is_only_simplified)
        r->written.kept_reason = "it was only to be simplified";
    else if (o->results.found.steps.count == 0 && r->check.failed_output)
        r->written.kept_reason = arena_printf(
            &o->model.arena, "what was found to be faster fails the check, at output %s", r->check.failed_output);
    else if (o->results.found.steps.count == 0 && r->check.never_finite)
        r->written.kept_reason =
            arena_printf(&o->model.arena, "output %s is not finite at any inputs, which says nothing of rewrites",
                         r->check.never_finite);
    else if (o->results.found.steps.count == 0)
        r->written.kept_reason = "no rewrite was found to be faster";
    else if (r->timing.is_cut)
        r->written.kept_reason = reason_not_to_measure(o);
    else if (r->timing.is_too_large)
        r->written.kept_reason = "there is not enough memory to run the result";
    else if (r->there.result.failure)
        r->written.kept_reason =
            arena_printf(&o->model.arena, "the result fails where it is timed: %s", r->there.result.failure);
    else if (r->timing.n_timed == 2 && !r->timing.is_faster)
        r->written.kept_reason = "the result is not measurably faster";
    r->written.is_optimized = r->written.kept_reason == NULL;
}

// --- the job ---------------------------------------------------------------------------------------------------------

// Nothing is known of costs.
static bool only_simplify(struct optimizing *o)
{
    graph_copy(&o->results.found.graph, &o->model.graph);
    o->results.found.seconds_before = o->results.found.seconds_after = INFINITY;
    o->report.check.verdict = CHECK_SKIPPED;
    o->report.check.reason = optimizing_reason_not_to_check(o);
    choose_layouts(o);
    o->report.costs.layout_strategy = optimize_layouts[o->search.layout];
    decide(o);
    return optimizing_write(o);
}

static bool optimize_imported(struct optimizing *o)
{
    cut_plan_init(&o->inputs.cut, &o->model.graph, (uint32_t)o->model.inputs.count);
    if (!optimizing_can_compile(o) || !choose_sizes(o))
        return false;
    if (o->options->is_only_simplified)
        return only_simplify(o);
    if (!has_room_for_check(o))
        return false;
    backend_expect_model(o->backend, optimizing_bytes_of_weights(o));
    if (!optimizing_prepare_runtime(o) || !optimizing_check_tuning(o))
        return false;
    choose_layouts(o);
    allow_errors(o);
    optimizing_derive_rules(o);
    optimizing_leave_products_to_kernels(o);
    if (!failed_rewrites_search(o))
        return false;
    decide(o);
    return optimizing_write(o);
}

typedef void print_fn(void *context, const struct report *r);

static void tell(struct optimizing *o, bool is_done, print_fn *print, void *context)
{
    if (o->options->has_pictures)
        optimizing_describe(o);
    optimizing_fill_report(o);
    if (is_done)
        print(context, &o->report);
    optimizing_free_steps(o);
}

static void free_results(struct optimizing *o)
{
    optimizing_free_written(o);
    search_result_free(&o->results.found);
    cut_plan_free(&o->inputs.cut);
    vecs_free(&o->report, check.outputs, there.result.outputs, there.simplified.outputs, check.uncompared);
    vecs_free(&o->report, kept, timing.contenders, costs.corrections);
    reference_free(&o->results.original);
    vecs_free(o, results.profiled, rules.left_out);
}

// A file that is named is wanted. What cannot be kept in the user's cache is a warning.
static bool keep_costs(struct optimizing *o)
{
    if (!o->options->costs)
        return true;
    bool is_kept = backend_save_costs_last(o->backend, o->error);
    return step_costs_save_last(o->search.step_costs, o->error) && is_kept;
}

static bool optimize_opened(struct optimizing *o, print_fn *print, void *context)
{
    bool is_open = check_files(o) && open_model(o), is_done = false;
    optimizing_keep_rules_for_sizes(o);
    if (is_open && (o->model.symbols.list.count > 0 || read_given_inputs(o)) && open_backend(o)) {
        is_done = optimize_imported(o);
        tell(o, is_done, print, context);
        is_done = is_done && keep_costs(o);
        free_results(o);
    }
    optimizing_end_tuning(o);
    close_backends(o);
    if (is_open)
        imported_model_free(&o->model);
    return is_done;
}

static bool is_possible(const struct optimize_options *options, struct error *error)
{
    return optimizing_check_compilation(options, error) && files_used_check(options->files, options->n_files, error) &&
           optimizing_check_ending(options, error) && onnx_file_may_be_model(options->input, error);
}

bool optimize_model(const struct optimize_options *options, print_fn *print, void *context, struct error *error)
{
    struct optimizing o = {.options = options, .error = error};
    phases_start(&o.time.phases);
    o.time.remaining.countdown.seconds = INFINITY;
    o.time.remaining.countdown.ends = options->total_seconds > 0 ? clock_seconds() + options->total_seconds : 0;
    o.time.remaining.phases = &o.time.phases;
    time_limit_begin(&o.time.limit, options->total_seconds, clock_seconds(), &o.time.remaining);
    rule_set_init(&o.rules.set, &o.arena);
    bool is_open =
        is_possible(options, error) && optimizing_read_rules(&o) && optimizing_open_runtime(&o) && open_file(&o);
    bool is_done = is_open && optimize_opened(&o, print, context);
    if (is_open)
        onnx_file_close(&o.file);
    optimizing_close_runtime(&o);
    time_limit_end(&o.time.limit);
    rule_set_free(&o.rules.set);
    vec_free(&o.rules.is_of_egraph);
    arena_free(&o.arena);
    return is_done;
}
