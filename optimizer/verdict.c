// Does a result of the search compute what the original computes, and is it faster? Both are run.
#include "optimizer/optimization.h"

#include "core/error.h"
#include "core/random.h"
#include "optimizer/comparison.h"
#include "optimizer/run/run.h"
#include <math.h>
#include <string.h>

// --- checking and timing ---------------------------------------------------------------------------------------------

// Two models whose weights are larger than this are prepared one after the other, as a copy of each is packed.
#define WEIGHTS_OF_A_LARGE_MODEL ((size_t)1 << 30)

// What can be run of the original and of the result.
struct pair {
    struct graph graphs[2];
    struct model *models[2];
    struct recording recordings[2];
    struct arena arena;   // of the recordings
};

static void init_pair(struct optimizing *o, const struct graph *a, const struct graph *b, struct pair *ret_pair)
{
    *ret_pair = (struct pair){0};
    arena_init(&ret_pair->arena);
    graph_cut(&ret_pair->graphs[0], a, b, &o->cut);
    graph_cut(&ret_pair->graphs[1], b, a, &o->cut);
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
    pair->models[i] = backend_prepare(o->checker, &pair->graphs[i], o->model.weights.count, weights, o->error);
    return pair->models[i] != NULL;
}

static bool record(struct optimizing *o, struct pair *pair, int i)
{
    return model_record(pair->models[i], &pair->graphs[0], o->cut.n_inputs, (uint64_t)o->options->seed,
                        (int)o->options->rounds, &pair->arena, &pair->recordings[i], o->error);
}

static bool take_time(struct optimizing *o, struct pair *pair, struct model *a, struct model *b, double seconds,
                      struct side_by_side *ret_times)
{
    return models_time(a, b, &pair->graphs[0], o->cut.n_inputs, (uint64_t)o->options->seed, seconds, ret_times,
                       o->error);
}

static void name_outputs(struct optimizing *o)
{
    size_t next = 0;
    for (size_t i = 0; i < o->model.outputs.count && next < o->report.outputs.count; i++)
        if (tensor_has_values(&o->model.graph, o->model.outputs.items[i].tensor))
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

static void judge(struct optimizing *o, const struct pair *pair)
{
    o->report.tolerance = comparison_tolerance(&pair->graphs[0], o->options->tolerance);
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
    init_pair(o, &o->model.graph, &o->found.graph, &pair);
    bool is_done = prepare_model(o, weights, &pair, 0) && prepare_model(o, weights, &pair, 1);
    if (is_done && !o->options->is_check_skipped) {
        is_done = record(o, &pair, 0) && record(o, &pair, 1);
        if (is_done)
            judge(o, &pair);
    }
    if (is_done && is_timed && o->report.verdict != CHECK_FAILED) {
        is_done = take_time(o, &pair, pair.models[0], pair.models[1], o->options->measure_seconds, &times);
        if (is_done)
            report_times(o, &times, true);
    }
    free_pair(&pair);
    return is_done;
}

static bool check_one_after_the_other(struct optimizing *o, const struct tensor_value *weights, bool is_timed)
{
    struct pair pair;
    struct side_by_side times[2];
    bool is_done = true;
    init_pair(o, &o->model.graph, &o->found.graph, &pair);
    for (int i = 0; is_done && i < 2; i++) {
        is_done = prepare_model(o, weights, &pair, i) && (o->options->is_check_skipped || record(o, &pair, i)) &&
                  (!is_timed || take_time(o, &pair, pair.models[i], NULL, o->options->measure_seconds, &times[i]));
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

bool optimizing_has_large_weights(const struct optimizing *o)
{
    return bytes_of_weights(&o->model) > WEIGHTS_OF_A_LARGE_MODEL;
}

bool optimizing_is_timed(const struct optimizing *o)
{
    return !o->options->is_timing_skipped && (o->runtime.is_open || o->checker == o->backend);
}

static const struct tensor_value *collect_weights(struct optimizing *o, const struct graph *other)
{
    struct graph runnable;
    graph_cut(&runnable, &o->model.graph, other, &o->cut);
    const struct tensor_value *weights = run_collect_weights(&o->model, &runnable, o->error);
    graph_free(&runnable);
    return weights;
}

bool optimizing_duel(struct optimizing *o, const struct search_result *a, const struct search_result *b, double seconds,
                     struct side_by_side *ret_times)
{
    if (o->runtime.is_open)
        return optimizing_duel_in_runtime(o, &a->graph, &b->graph, seconds, ret_times);
    struct pair pair;
    const struct tensor_value *weights = collect_weights(o, NULL);
    init_pair(o, &a->graph, &b->graph, &pair);
    bool is_done = weights && prepare_model(o, weights, &pair, 0) && prepare_model(o, weights, &pair, 1) &&
                   take_time(o, &pair, pair.models[0], pair.models[1], seconds, ret_times);
    free_pair(&pair);
    return is_done;
}

static bool judge_here(struct optimizing *o, const struct tensor_value *weights)
{
    bool is_timed = optimizing_is_timed(o) && !o->runtime.is_open;
    if (optimizing_has_large_weights(o))
        return check_one_after_the_other(o, weights, is_timed);
    return check_side_by_side(o, weights, is_timed) &&
           (o->report.verdict != CHECK_UNTRUSTWORTHY || check_with_random_weights(o, weights));
}

// What our own executor finds different is not asked for its time.
static bool judge_in_runtime(struct optimizing *o, const struct tensor_value *weights)
{
    if (!o->runtime.is_open || o->options->is_timing_skipped || o->report.verdict == CHECK_FAILED)
        return true;
    if (!optimizing_judge_in_runtime(o, &o->found.graph, &o->report.in_runtime))
        return judge_here(o, weights);
    o->report.runtime = arena_string(&o->model.arena, runtime_name(&o->runtime));
    if (o->report.in_runtime.is_timed)
        report_times(o, &o->report.in_runtime.times, !o->runtime.has_apart);
    return true;
}

bool optimizing_judge(struct optimizing *o)
{
    const struct tensor_value *weights = collect_weights(o, &o->found.graph);
    return weights && judge_here(o, weights) && judge_in_runtime(o, weights);
}

bool optimizing_differs_by_rounding(struct optimizing *o)
{
    struct arena arena;
    struct report own = o->report;
    const struct tensor_value *weights = collect_weights(o, &o->found.graph);
    if (!weights || optimizing_has_large_weights(o))
        return false;
    arena_init(&arena);
    memset(&o->report.outputs, 0, sizeof o->report.outputs);
    bool is_equal =
        check_side_by_side(o, random_weights(o, weights, &arena), false) && o->report.verdict == CHECK_PASSED;
    vec_free(&o->report.outputs);
    o->report = own;
    arena_free(&arena);
    return is_equal;
}
