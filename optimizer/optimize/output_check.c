// Does a result of the search compute what the original computes? Both are run, with the layouts that suit each.
#include "optimizer/optimize/output_check.h"

#include "backends/backend.h"
#include "graph/graph_whole.h"
#include "optimizer/measure/contenders.h"
#include "optimizer/measure/estimator.h"

#include "core/numbers/random.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/measure/runtime_verdict.h"
#include "optimizer/run/comparison.h"
#include "optimizer/run/model_weights.h"
#include "optimizer/run/prepare_within.h"
#include "optimizer/run/reference.h"
#include <math.h>
#include <string.h>

// --- checking and timing ---------------------------------------------------------------------------------------------

// The outputs of the original: at the profile's sizes, with its own weights, they are kept. What can be run of it
// depends on the result where there are nodes that nobody understands.
static struct reference *reference_of(struct optimizing *o, struct reference *own, bool is_kept)
{
    struct reference *r = is_kept && o->model.opaques.count == 0 ? &o->results.original : own;
    r->n_inputs = o->inputs.cut.n_inputs;
    r->given = o->inputs.given;
    r->seed = (uint64_t)o->options->seed;
    r->rounds = (int)o->options->rounds;
    return r;
}

// The original runs by exact kernels alone.
static struct model *prepare_model(struct optimizing *o, const struct tensor_value *weights, const struct graph *g,
                                   struct reference *r)
{
    bool is_result = r->is_there;
    double budget = o->checker->options.error_budget;
    struct given_weights given = {o->model.weights.count, weights, o->checker->options.weights};
    struct within_request request = {
        .backend = o->checker, .graph = g, .weights = &given, .seed = (uint64_t)o->options->seed, .reference = r};
    if (o->checker == o->backend)
        o->checker->policy = o->results.policies[is_result];
    o->checker->options.error_budget = is_result ? budget : 0;
    struct model *m = prepare_within_by_policy(&request, &o->report.costs.within[is_result], o->error);
    o->checker->options.error_budget = budget;
    mem_give_back();
    return m;
}

static bool record_original(struct optimizing *o, const struct tensor_value *weights, const struct graph *g,
                            struct reference *r)
{
    if (reference_serves(r))
        return true;
    reference_free(r);
    struct model *m = prepare_model(o, weights, g, r);
    bool is_done = m && reference_record(r, m, g, o->error);
    model_free(m);
    return is_done;
}

static void name_outputs(struct optimizing *o)
{
    size_t next = 0;
    for (size_t i = 0; i < o->model.outputs.count && next < o->report.check.outputs.count; i++)
        if (tensor_has_values(&o->model.graph, o->model.outputs.items[i].tensor))
            o->report.check.outputs.items[next++].name = o->model.outputs.items[i].name;
    for (; next < o->report.check.outputs.count; next++)
        o->report.check.outputs.items[next].name = "(read by an operator that is kept)";
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

static bool compare_result(struct optimizing *o, const struct tensor_value *weights, const struct graph *g,
                           struct reference *r)
{
    struct model *m = prepare_model(o, weights, g, r);
    bool is_done = m && reference_compare(r, m, g, o->report.check.tolerance, &o->report.check.outputs, o->error);
    model_free(m);
    return is_done;
}

// The parts of the original and of the result that can be run.
struct pair {
    struct graph graphs[2];
};

static void cut_pair(struct optimizing *o, struct pair *ret_pair)
{
    graph_cut(&ret_pair->graphs[0], &o->model.graph, &o->results.found.graph, &o->inputs.cut);
    graph_cut(&ret_pair->graphs[1], &o->results.found.graph, &o->model.graph, &o->inputs.cut);
}

static void free_pair(struct pair *pair)
{
    graph_free(&pair->graphs[0]);
    graph_free(&pair->graphs[1]);
}

// Models are there one at a time: each packs a copy of the weights.
static bool compare(struct optimizing *o, const struct tensor_value *weights, bool is_kept)
{
    struct reference own FREED_BY(reference_free) = {0}, *r = reference_of(o, &own, is_kept);
    struct pair pair FREED_BY(free_pair) = {0};
    cut_pair(o, &pair);
    o->report.check.tolerance = comparison_tolerance(&pair.graphs[0], o->options->allows_tf32, o->options->tolerance);
    if (!record_original(o, weights, &pair.graphs[0], r) || !compare_result(o, weights, &pair.graphs[1], r))
        return false;
    name_outputs(o);
    o->report.check.verdict = verdict_of(&o->report.check.outputs);
    report_note_never_finite(&o->report, &o->report.check.outputs);
    return true;
}

// Rewrites hold for all weights, so a model whose own weights make constant outputs can be checked with others.
static struct tensor_value *random_weights(struct optimizing *o, const struct tensor_value *own, struct arena *arena)
{
    struct tensor_value *weights = arena_array(arena, struct tensor_value, o->model.weights.count + 1);
    for (size_t i = 0; i < o->model.weights.count; i++) {
        weights[i] = own[i];
        const struct type *type = &weights[i].type;
        if (type->dtype != DTYPE_F32 || type->rank == 0)
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
    ARENA(arena);
    bool is_done = compare(o, random_weights(o, own, &arena), false);
    o->report.check.reason = o->report.check.verdict == CHECK_PASSED
                                 ? "with random weights, as the outputs are constant with the model's own"
                                 : "outputs are constant, with the model's own weights and with random ones";
    return is_done;
}

static const struct tensor_value *list_weights(struct optimizing *o)
{
    struct graph runnable FREED_BY(graph_free);
    graph_cut(&runnable, &o->model.graph, &o->results.found.graph, &o->inputs.cut);
    return model_list_weights(&o->model, &runnable);
}

// Inputs of a round, and outputs of all rounds of both models.
static size_t bytes_of_values(const struct optimizing *o, const struct graph *g)
{
    size_t bytes = graph_bytes_of_leaves(g, OP_INPUT);
    for (size_t i = 0; i < g->outputs.count; i++)
        bytes =
            mem_sum(bytes, mem_product(2 * (size_t)o->options->rounds, type_bytes(graph_type(g, g->outputs.items[i]))));
    return bytes;
}

static bool has_room_to_compare(struct optimizing *o, struct error *error)
{
    struct pair pair FREED_BY(free_pair) = {0};
    size_t of_models[2] = {0}, available = mem_available();
    cut_pair(o, &pair);
    bool has_room = ALL(int, i, 2, backend_has_room(o->checker, &pair.graphs[i], &of_models[i], error));
    size_t bytes = mem_sum(of_models[of_models[1] > of_models[0]], bytes_of_values(o, &pair.graphs[0]));
    return has_room &&
           (bytes <= available || error_set_code(error, EXIT_UNSUPPORTED, NULL,
                                                 "comparing the models takes %.0f MiB of memory, and %.0f MiB are free",
                                                 (double)bytes / 0x1p20, (double)available / 0x1p20));
}

// The user's runtime, which has memory of its own, may be asked yet.
static void leave_out_check(struct optimizing *o, size_t check, const struct error *error)
{
    TEXT(sizes);
    profile_print(&sizes, &o->model, o->inputs.bindings.checks[check]);
    log_warning(o->options->log, "%s: not checked here at %s: %s", o->options->input, sizes.chars, error->message);
    if (!o->runtime.is_open || o->options->is_timing_skipped)
        bindings_drop_check(&o->inputs.bindings, check);
}

// A model with symbols is compared at random sizes, where there is memory for these. The worst counts. Layouts by rule
// will do, as the best ones would have costs measured at each of these sizes, and those of the profile are compared
// beside.
static bool compare_at_other_sizes(struct optimizing *o, const struct tensor_value *weights)
{
    struct cut_plan profile = o->inputs.cut;
    enum layout_policy policies[] = {o->results.policies[0], o->results.policies[1]};
    bool is_done = true;
    o->results.policies[0] = o->results.policies[1] = LAYOUTS_STANDARD;
    for (size_t i = o->inputs.bindings.n_checks; is_done && i-- > 0 && o->report.check.verdict != CHECK_FAILED;) {
        struct error error = {0};
        memcpy(o->inputs.cut.binding, o->inputs.bindings.checks[i], sizeof o->inputs.cut.binding);
        if (has_room_to_compare(o, &error))
            is_done = compare(o, weights, false);
        else
            leave_out_check(o, i, &error);
    }
    o->inputs.cut = profile;
    memcpy(o->results.policies, policies, sizeof policies);
    return is_done;
}

static bool check_here(struct optimizing *o, const struct tensor_value *weights)
{
    if (o->options->is_check_skipped)
        return true;
    if (!compare_at_other_sizes(o, weights) || o->report.check.verdict == CHECK_FAILED)
        return o->report.check.verdict == CHECK_FAILED;
    return compare(o, weights, true) &&
           (o->report.check.verdict != CHECK_UNTRUSTWORTHY || optimizing_has_large_weights(o) ||
            o->report.check.never_finite || check_with_random_weights(o, weights));
}

// The time by the costs of its runtime; 0: there are none, or nodes that nobody understands are a part of the time.
static double believed_seconds(struct optimizing *o, const struct graph *g)
{
    struct estimator e = optimizing_estimator(o);
    double seconds = o->search.step_costs && o->inputs.cut.first_input.count == 0 ? estimator_known_seconds(&e, g) : 0;
    return isfinite(seconds) ? seconds : 0;
}

static void report_times_in_runtime(struct optimizing *o)
{
    struct report *r = &o->report;
    r->timing.n_timed = 2;
    r->timing.is_interleaved = !o->runtime.has_apart;
    memcpy(r->timing.times, r->there.result.times.times, sizeof r->timing.times);
    r->timing.gain = r->there.result.times.gain;
    r->timing.estimates[0] = believed_seconds(o, &o->model.graph);
    r->timing.estimates[1] = believed_seconds(o, &o->results.found.graph);
    r->timing.is_faster = ratio_is_a_gain(&r->timing.gain);
}

// A result that our own executor finds different is not asked for its time. A runtime that is gone leaves it to our own
// executor.
static bool judge_in_runtime(struct optimizing *o)
{
    if (o->options->is_timing_skipped || o->report.check.verdict == CHECK_FAILED)
        return true;
    if (!o->runtime.is_open)
        return !o->search.step_costs || !optimizing_is_timed(o) || optimizing_is_cut(o) || optimizing_time_result(o);
    phases_enter(&o->time.phases, PHASE_TIMING);
    if (!optimizing_judge_in_runtime(o, &o->results.found.graph, &o->report.there.result))
        return optimizing_is_cut(o) || !optimizing_is_timed(o) || optimizing_time_result(o);
    o->report.there.name = arena_string(&o->model.arena, runtime_name(&o->runtime));
    if (o->report.there.result.is_timed)
        report_times_in_runtime(o);
    return true;
}

bool optimizing_judge(struct optimizing *o)
{
    time_limit_enter(&o->time.limit, TIME_TO_TIME);
    phases_enter(&o->time.phases, PHASE_CHECKING);
    if (backend_can_run(o->checker) && !check_here(o, list_weights(o))) {
        o->report.check.verdict = CHECK_SKIPPED;
        o->report.check.reason = optimizing_reason_of_end(o);
        return optimizing_is_cut(o);
    }
    return judge_in_runtime(o);
}

// Judges kernels before any search, so that costs are those of what is taken. No failure matters: files are judged.
void optimizing_judge_kernels(struct optimizing *o)
{
    struct graph runnable FREED_BY(graph_free) = {0};
    struct error error = {0};
    bool is_wanted = o->backend->options.error_budget > 0 && !o->options->is_check_skipped && !interrupt_requested();
    if (!is_wanted || !graph_cut(&runnable, &o->model.graph, NULL, &o->inputs.cut))
        return;
    struct given_weights given = {o->model.weights.count, model_list_weights(&o->model, &runnable), &o->weight_source};
    struct reference own FREED_BY(reference_free) = {0};
    struct within_request request = {
        o->backend, &runnable, NULL, &given, (uint64_t)o->options->seed, true, reference_of(o, &own, true)};
    enum phase former = phases_enter(&o->time.phases, PHASE_CHECKING);
    o->backend->policy = o->results.policies[0];
    model_free(prepare_within_by_policy(&request, &o->report.costs.within[0], &error));
    phases_enter(&o->time.phases, former);
}

static bool compare_here(struct optimizing *o, bool *ret_agrees)
{
    struct report own = o->report;
    enum layout_policy policies[] = {o->results.policies[0], o->results.policies[1]};
    memset(&o->report.check.outputs, 0, sizeof o->report.check.outputs);
    o->report.check.verdict = CHECK_PASSED;
    o->results.policies[0] = o->results.policies[1] = LAYOUTS_STANDARD;
    bool is_done = !backend_can_run(o->checker) || check_here(o, list_weights(o));
    *ret_agrees = o->report.check.verdict != CHECK_FAILED;
    vec_free(&o->report.check.outputs);
    memcpy(o->results.policies, policies, sizeof policies);
    o->report = own;
    return is_done;
}

bool optimizing_compare(struct optimizing *o, const struct graph *g, bool *ret_agrees)
{
    struct graph found = o->results.found.graph;
    struct runtime_verdict there = {0};
    o->results.found.graph = *g;
    bool is_done = compare_here(o, ret_agrees);
    if (is_done && *ret_agrees && o->report.there.result.differs)
        optimizing_check_in_runtime(o, g, &there);
    *ret_agrees = *ret_agrees && !there.differs && !there.failure;
    vec_free(&there.outputs);
    o->results.found.graph = found;
    return is_done;
}
