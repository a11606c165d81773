#include "optimizer/optimize.h"

#include "backends/cpu/cpu.h"
#include "backends/fake/fake.h"
#include "backends/reference/reference.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/random.h"
#include "optimizer/comparison.h"
#include "optimizer/onnx/export.h"
#include "optimizer/run/run.h"
#include "optimizer/runnable.h"
#include <math.h>
#include <string.h>

enum device { DEVICE_CPU, DEVICE_FAKE, DEVICE_CUDA };
const char *const optimize_devices[] = {"cpu", "fake", "cuda", NULL};

const struct optimize_options optimize_standard_options = {
    .fold_limit = IMPORT_FOLD_LIMIT,
    .budget = 1000,
    .max_memory = (int64_t)1 << 30,
    .seed = 1,
    .rounds = 2,
    .alpha = 1.05,
    .tolerance = 1e-5,
    .measure_seconds = 3,
};

struct optimizing {
    const struct optimize_options *options;
    struct onnx_file file;
    struct imported_model model;
    struct arena arena;   // of rules and values
    struct rule_set rules;
    struct backend *backend;
    struct cut_plan cut;
    struct search_result found;
    struct report report;
    struct error *error;
};

// --- opening ---------------------------------------------------------------------------------------------------------

static void forget_weight(void *context, const void *data, size_t size)
{
    onnx_file_forget(context, data, size);
}

static bool open_backend(struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    struct backend_options chosen = {.threads = (int)options->threads,
                                     .cost_file = options->costs,
                                     .log = options->log,
                                     .weight_was_packed = forget_weight,
                                     .context = &o->file};
    if (options->device == DEVICE_CUDA)
        return error_set_code(o->error, EXIT_UNSUPPORTED, NULL, "this build has no CUDA backend");
    o->backend = options->device == DEVICE_FAKE ? fake_backend_open(&(struct fake_device){0}, o->error)
                                                : cpu_backend_open(&chosen, o->error);
    return o->backend != NULL;
}

static bool has_rule(const struct rule_set *rules, const char *name)
{
    for (size_t i = 0; i < rules->rules.count; i++)
        if (strcmp(rules->rules.items[i]->name, name) == 0)
            return true;
    return false;
}

static bool read_rules(struct optimizing *o)
{
    const struct option_list *without = &o->options->without;
    if (!rule_set_read(&o->rules, o->options->rules, o->error))
        return false;
    for (size_t i = 0; i < without->count; i++)
        if (!has_rule(&o->rules, without->items[i]))
            return error_set_code(o->error, EXIT_USAGE, o->options->rules, "there is no rule %s", without->items[i]);
    return true;
}

static bool open_model(struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    struct import_options import = {.shapes = options->shapes.items,
                                    .shape_count = options->shapes.count,
                                    .fold_limit = options->fold_limit,
                                    .log = options->log};
    return import_model(&o->model, &o->file, &import, o->error);
}

// --- cost ------------------------------------------------------------------------------------------------------------

static double seconds_of_graph(void *context, const struct graph *g)
{
    struct optimizing *o = context;
    struct estimate estimate;
    struct graph runnable;
    struct error error = {0};
    bool is_cut = cut_plan_is_needed(&o->cut);
    if (is_cut)
        graph_cut(&runnable, g, NULL, &o->cut);
    bool is_known = backend_estimate(o->backend, is_cut ? &runnable : g, &estimate, &error);
    if (is_cut)
        graph_free(&runnable);
    return is_known ? estimate.seconds : INFINITY;
}

static void search(struct optimizing *o)
{
    struct cost_model cost = {seconds_of_graph, o};
    struct search_options options = search_standard_options;
    options.alpha = o->options->alpha;
    options.budget = o->options->budget;
    options.seconds = o->options->seconds;
    options.progress = o->options->progress;
    options.validates = !o->options->is_validation_skipped;
    options.max_memory = (size_t)o->options->max_memory;
    options.n_disabled = o->options->without.count;
    options.disabled = o->options->without.items;
    search_graph(&o->model.graph, &o->rules, &cost, &options, &o->found);
}

// --- checking and timing ---------------------------------------------------------------------------------------------

// Two models whose weights are larger than this are prepared one after the other, as a copy of each is packed.
#define WEIGHTS_OF_A_LARGE_MODEL ((size_t)1 << 30)
#define TOLERANCE_OF_HALVES 1e-2

// What can be run of the original and of the result.
struct pair {
    struct graph graphs[2];
    struct model *models[2];
    struct recording recordings[2];
    struct arena arena;   // of the recordings
};

static void init_pair(struct optimizing *o, struct pair *ret_pair)
{
    *ret_pair = (struct pair){0};
    arena_init(&ret_pair->arena);
    graph_cut(&ret_pair->graphs[0], &o->model.graph, &o->found.graph, &o->cut);
    graph_cut(&ret_pair->graphs[1], &o->found.graph, &o->model.graph, &o->cut);
}

static void free_model(struct pair *pair, int i)
{
    if (pair->models[i])
        model_free(pair->models[i]);
    pair->models[i] = NULL;
}

static void free_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        free_model(pair, i);
        graph_free(&pair->graphs[i]);
    }
    arena_free(&pair->arena);
}

static bool prepare_model(struct optimizing *o, const struct tensor_value *weights, struct pair *pair, int i)
{
    pair->models[i] = backend_prepare(o->backend, &pair->graphs[i], o->model.weights.count, weights, o->error);
    return pair->models[i] != NULL;
}

static bool record(struct optimizing *o, struct pair *pair, int i)
{
    return model_record(pair->models[i], &pair->graphs[0], o->cut.n_inputs, (uint64_t)o->options->seed,
                        (int)o->options->rounds, &pair->arena, &pair->recordings[i], o->error);
}

static bool take_time(struct optimizing *o, struct pair *pair, struct model *a, struct model *b,
                      struct side_by_side *ret_times)
{
    return models_time(a, b, &pair->graphs[0], o->cut.n_inputs, (uint64_t)o->options->seed, o->options->measure_seconds,
                       ret_times, o->error);
}

static void name_outputs(struct optimizing *o)
{
    size_t next = 0;
    for (size_t i = 0; i < o->model.outputs.count && next < o->report.outputs.count; i++)
        if (type_is_known(graph_type(&o->model.graph, o->model.outputs.items[i].tensor)))
            o->report.outputs.items[next++].name = o->model.outputs.items[i].name;
    for (; next < o->report.outputs.count; next++)
        o->report.outputs.items[next].name = "(read by an operator that is kept)";
}

static enum check_verdict verdict_of(const output_comparisons *outputs)
{
    enum check_verdict verdict = CHECK_PASSED;
    for (size_t i = 0; i < outputs->count; i++) {
        if (!outputs->items[i].is_equal_enough)
            return CHECK_FAILED;
        if (!outputs->items[i].is_trustworthy)
            verdict = CHECK_UNTRUSTWORTHY;
    }
    return outputs->count ? verdict : CHECK_UNTRUSTWORTHY;
}

static bool has_halves(const struct graph *g)
{
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (graph_type(g, t)->dtype == DTYPE_F16 || graph_type(g, t)->dtype == DTYPE_BF16)
            return true;
    return false;
}

static void judge(struct optimizing *o, const struct pair *pair)
{
    o->report.tolerance = o->options->tolerance;
    if (has_halves(&pair->graphs[0]))
        o->report.tolerance = fmax(o->report.tolerance, TOLERANCE_OF_HALVES);
    recordings_compare(&pair->recordings[0], &pair->recordings[1], o->report.tolerance, &o->report.outputs);
    name_outputs(o);
    o->report.verdict = verdict_of(&o->report.outputs);
}

static void report_times(struct optimizing *o, const struct side_by_side *times, bool is_interleaved)
{
    o->report.is_timed = true;
    o->report.is_interleaved = is_interleaved;
    o->report.time_before = times->time_a;
    o->report.time_after = times->time_b;
    o->report.speedup = times->ratio;
    o->report.speedup_low = times->ratio_low;
    o->report.speedup_high = times->ratio_high;
}

static bool check_side_by_side(struct optimizing *o, const struct tensor_value *weights, bool is_timed)
{
    struct pair pair;
    struct side_by_side times;
    init_pair(o, &pair);
    bool is_done = prepare_model(o, weights, &pair, 0) && prepare_model(o, weights, &pair, 1);
    if (is_done && !o->options->is_check_skipped) {
        is_done = record(o, &pair, 0) && record(o, &pair, 1);
        if (is_done)
            judge(o, &pair);
    }
    if (is_done && is_timed && o->report.verdict != CHECK_FAILED) {
        is_done = take_time(o, &pair, pair.models[0], pair.models[1], &times);
        if (is_done)
            report_times(o, &times, true);
    }
    free_pair(&pair);
    return is_done;
}

static bool check_one_after_the_other(struct optimizing *o, const struct tensor_value *weights)
{
    struct pair pair;
    struct side_by_side times[2];
    bool is_done = true, is_timed = !o->options->is_timing_skipped;
    init_pair(o, &pair);
    for (int i = 0; is_done && i < 2; i++) {
        is_done = prepare_model(o, weights, &pair, i) && (o->options->is_check_skipped || record(o, &pair, i)) &&
                  (!is_timed || take_time(o, &pair, pair.models[i], NULL, &times[i]));
        free_model(&pair, i);
    }
    if (is_done && !o->options->is_check_skipped)
        judge(o, &pair);
    if (is_done && is_timed) {
        struct side_by_side joined = side_by_side_join(&times[0], &times[1]);
        report_times(o, &joined, false);
    }
    free_pair(&pair);
    return is_done;
}

// Rewrites hold for all weights, so a model whose own weights make constant outputs can be checked with others.
static struct tensor_value *random_weights(struct optimizing *o, const struct tensor_value *own, struct arena *arena)
{
    struct tensor_value *weights = arena_array(arena, struct tensor_value, o->model.weights.count + 1);
    for (size_t i = 0; i < o->model.weights.count; i++) {
        weights[i] = own[i];
        const struct type *type = &weights[i].type;
        if (type->dtype != DTYPE_F32 || type->rank == 0 || !weights[i].data)
            continue;
        struct random random = random_seed(random_keyed((uint64_t)o->options->seed, i));
        double fan_in = type->rank > 1 ? fmax(1, (double)type_elements(type) / (double)type->dim[type->rank == 2]) : 1;
        float *data = value_allocate(arena, type);
        for (int64_t j = 0; j < type_elements(type); j++)
            data[j] = (float)(random_normal(&random) * sqrt(2 / fan_in));
        weights[i].data = data;
    }
    return weights;
}

static bool check_with_random_weights(struct optimizing *o, const struct tensor_value *own)
{
    struct arena arena;
    arena_init(&arena);
    bool is_done = check_side_by_side(o, random_weights(o, own, &arena), false);
    arena_free(&arena);
    o->report.verdict_reason = o->report.verdict == CHECK_PASSED
                                   ? "with random weights, as the outputs are constant with the model's own"
                                   : "outputs are constant, with the model's own weights and with random ones";
    return is_done;
}

static size_t bytes_of_weights(const struct imported_model *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->weights.count; i++)
        bytes += type_bytes(&m->weights.items[i].type);
    return bytes;
}

static bool check_and_time(struct optimizing *o)
{
    struct graph runnable;
    graph_cut(&runnable, &o->model.graph, &o->found.graph, &o->cut);
    const struct tensor_value *weights = run_collect_weights(&o->model, &runnable, o->error);
    graph_free(&runnable);
    if (!weights)
        return false;
    if (bytes_of_weights(&o->model) > WEIGHTS_OF_A_LARGE_MODEL)
        return check_one_after_the_other(o, weights);
    return check_side_by_side(o, weights, !o->options->is_timing_skipped) &&
           (o->report.verdict != CHECK_UNTRUSTWORTHY || check_with_random_weights(o, weights));
}

// --- constants -------------------------------------------------------------------------------------------------------

#define FLOPS_FOR_A_DEVICE 1e7   // what takes more is not for the reference

static double flops_of_node(const struct graph *g, node_id n, struct arena *arena)
{
    struct definition d;
    double flops = graph_define(g, n, &d, arena) ? definition_flops(&d) : 0;
    definition_free(&d);
    return flops;
}

// The node alone, with its inputs as inputs of the graph.
static void isolate_node(struct graph *ret_graph, const struct graph *g, node_id n, struct arena *arena)
{
    const struct node *node = &g->nodes.items[n];
    tensor_id *inputs = arena_array(arena, tensor_id, node->n_inputs + 1);
    graph_init(ret_graph, g->arena);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = graph_add_leaf(ret_graph, operators[OP_INPUT], i, graph_type(g, graph_inputs(g, n)[i]));
    node_id copy = graph_add_copy(ret_graph, g, n, inputs);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        graph_add_output(ret_graph, graph_output_of(ret_graph, copy, i));
}

static bool run_node(void *context, const struct graph *g, node_id n, const struct tensor_value *inputs,
                     struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    struct optimizing *o = context;
    struct graph alone;
    struct model *model;
    if (o->options->device == DEVICE_FAKE || flops_of_node(g, n, arena) < FLOPS_FOR_A_DEVICE)
        return reference_run_node(g, n, inputs, ret_outputs, arena, error);
    isolate_node(&alone, g, n, arena);
    bool is_run = (model = backend_prepare(o->backend, &alone, 0, NULL, error)) != NULL;
    if (is_run) {
        model_allocate_outputs(model, ret_outputs, arena);
        is_run = model_run(model, inputs, ret_outputs, error);
        model_free(model);
    }
    graph_free(&alone);
    return is_run;
}

// --- writing ---------------------------------------------------------------------------------------------------------

static void decide(struct optimizing *o)
{
    struct report *r = &o->report;
    if (o->found.steps.count == 0)
        r->kept_reason = "no rewrite was found to be faster";
    else if (r->is_timed && r->speedup_low <= 1)
        r->kept_reason = "the result is not measurably faster";
    r->is_optimized = r->kept_reason == NULL;
}

static bool write_model(struct optimizing *o)
{
    struct onnx_model *optimized;
    struct export_counts counts = {0};
    if (!o->options->output)
        return true;
    if (!o->report.is_optimized)
        return onnx_model_write(o->file.model, &o->file, o->options->output, 0, o->error);
    o->model.run_node = run_node;
    o->model.run_context = o;
    if (!export_model(&o->model, &o->found.graph, &optimized, &counts, o->error))
        return false;
    o->report.folded_weights = counts.computed;
    return onnx_model_write(optimized, &o->file, o->options->output, 0, o->error);
}

static void fill_report(struct optimizing *o, double started)
{
    struct report *r = &o->report;
    r->input = o->options->input;
    r->output = o->options->output;
    r->device = o->backend->device;
    r->before = &o->model.graph;
    r->after = &o->found.graph;
    r->search = &o->found;
    r->rules = &o->rules;
    r->import.folded = o->model.counts.folded;
    r->import.identities = o->model.counts.identities;
    r->import.normalizations = o->model.counts.normalizations;
    r->import.opaque = o->model.opaques.count;
    r->peak_memory = mem_peak_resident();
    r->seconds = clock_seconds() - started;
}

static const char *reason_not_to_check(const struct optimizing *o)
{
    return o->found.steps.count == 0           ? "nothing was changed"
           : o->options->device == DEVICE_FAKE ? "this device runs nothing"
           : o->options->is_check_skipped      ? "by request"
                                               : NULL;
}

static bool can_be_run(const struct optimizing *o)
{
    bool is_wanted = !o->options->is_check_skipped || !o->options->is_timing_skipped;
    return o->found.steps.count > 0 && o->options->device != DEVICE_FAKE && is_wanted;
}

static bool optimize_imported(struct optimizing *o)
{
    cut_plan_init(&o->cut, &o->model.graph, (uint32_t)o->model.inputs.count);
    search(o);
    o->report.verdict = CHECK_SKIPPED;
    o->report.verdict_reason = reason_not_to_check(o);
    if (can_be_run(o) && !check_and_time(o))
        return false;
    decide(o);
    if (o->report.verdict == CHECK_FAILED)
        return error_set_code(o->error, EXIT_CHECK_FAILED, o->options->input,
                              "the optimized model differs from the original: nothing is written");
    return write_model(o);
}

bool optimize_model(const struct optimize_options *options, void (*print)(void *context, const struct report *r),
                    void *context, struct error *error)
{
    struct optimizing o = {.options = options, .error = error};
    double started = clock_seconds();
    arena_init(&o.arena);
    rule_set_init(&o.rules, &o.arena);
    bool is_open = false, is_done = false;
    if (read_rules(&o) && onnx_file_open(&o.file, options->input, error)) {
        is_open = open_model(&o);
        if (is_open && open_backend(&o)) {
            is_done = optimize_imported(&o);
            fill_report(&o, started);
            if (is_done || o.report.verdict == CHECK_FAILED)
                print(context, &o.report);
            search_result_free(&o.found);
            cut_plan_free(&o.cut);
            vec_free(&o.report.outputs);
            backend_close(o.backend);
        }
        if (is_open)
            imported_model_free(&o.model);
        onnx_file_close(&o.file);
    }
    rule_set_free(&o.rules);
    arena_free(&o.arena);
    return is_done;
}
