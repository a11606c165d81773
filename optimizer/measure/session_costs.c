// Each graph is written with numbered nodes, run with its profile, and its kernels are given to the nodes of the graph.
// What a run takes beside its kernels is shared out among these, so that the sum of all is what a run takes without a
// profile. Graphs all of whose groups are known from sessions are not run again. Others than the original are run by
// turns with it, and count by how much longer or shorter they take: what else the machine does falls on both.
#include "optimizer/measure/session_costs.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "onnx/convert/export/read_back.h"
#include "optimizer/job/model_export.h"
#include "optimizer/limits.def"
#include "optimizer/measure/estimator.h"
#include "optimizer/measure/runtime_verdict.h"
#include "optimizer/runtime/numbered_nodes.h"
#include <math.h>
#include <string.h>

// A graph at the sizes that it is run with.
struct sized {
    struct optimizing *o;
    const struct graph *whole;
    struct graph runnable;
    tensor_id *map;   // from the whole
    int set;
    const struct cut_plan *cut;
    struct arena *arena;
};

// --- kernels as nodes ------------------------------------------------------------------------------------------------

static node_id find_maker(const struct sized *s, uint64_t value)
{
    for (tensor_id t = 0; value && t < s->whole->tensors.count; t++)
        if (s->whole->tensors.items[t].value == value && s->map[t] != NO_TENSOR)
            return s->runnable.tensors.items[s->map[t]].producer;
    return NO_NODE;
}

// A node that the runtime adds by itself, to turn layouts, is for the sake of the one behind it.
static double *seconds_of_nodes(const struct sized *s, const struct numbered_nodes *nodes,
                                const worker_kernels *kernels, double whole)
{
    double *seconds = arena_array(s->arena, double, s->runnable.nodes.count + 1), sum = 0, waiting = 0;
    node_id last = NO_NODE;
    for (node_id n = 0; n < s->runnable.nodes.count; n++)
        seconds[n] = NAN;
    for (size_t i = 0; i < kernels->count; i++)
        sum += kernels->items[i].seconds;
    double beside = whole > sum ? (whole - sum) / (double)kernels->count : 0, scale = sum > whole ? whole / sum : 1;
    for (size_t i = 0; i < kernels->count; i++) {
        size_t number = numbered_nodes_find(nodes, kernels->items[i].name);
        waiting += scale * kernels->items[i].seconds + beside;
        if (number == SIZE_MAX)
            continue;
        node_id n = find_maker(s, nodes->values[number]);
        if (n != NO_NODE)
            seconds[n] = (isnan(seconds[n]) ? 0 : seconds[n]) + waiting;
        last = n;
        waiting = 0;
    }
    if (last != NO_NODE)
        seconds[last] += waiting;
    return seconds;
}

// --- profiles --------------------------------------------------------------------------------------------------------

static bool is_original(const struct sized *s)
{
    return s->whole == &s->o->model.graph;
}

// How many times slower than noted the original is now, of which a run took so long.
static double note_original_again(const struct sized *s, double seconds)
{
    struct graph original FREED_BY(graph_free);
    return graph_cut(&original, &s->o->model.graph, NULL, s->cut)
               ? step_costs_note_original_again(s->o->search.step_costs, &original, seconds)
               : 1;
}

static bool profile_files(struct sized *s, const char *const paths[2], const struct numbered_nodes *nodes,
                          struct error *error)
{
    LOCAL_LIST(worker_kernels, kernels);
    double wholes[2], began = clock_seconds();
    bool is_done = worker_profile(&s->o->runtime.worker, paths, s->set, SECONDS_OF_A_PROFILE, LEAST_SESSION_RUNS,
                                  &kernels, wholes, error);
    s->o->time.of_profile = fmax(s->o->time.of_profile, clock_seconds() - began);
    if (is_done) {
        double slower = wholes[1] > 0 ? note_original_again(s, wholes[1]) : 1;
        log_info(s->o->options->log, "a session takes %.4g ms in %zu kernels, and the original beside it %.4g ms",
                 1e3 * wholes[0], kernels.count, 1e3 * wholes[is_original(s) ? 0 : 1]);
        step_costs_note_session(s->o->search.step_costs, &s->runnable,
                                seconds_of_nodes(s, nodes, &kernels, wholes[0] / slower), is_original(s));
    }
    return is_done;
}

static bool profile(struct sized *s, struct error *error)
{
    struct onnx_model *model;
    struct exported_types types;
    struct numbered_nodes nodes FREED_BY(numbered_nodes_free) = {0};
    struct runtime_file file = {{0}, {0}}, beside = {{0}, {0}};
    if (!optimizing_export(s->o, s->whole, &model, &types, error))
        return false;
    numbered_nodes_make(&nodes, model, &types, s->arena);
    bool is_done = runtime_file_write(s->o, model, "profiled", &file, error) &&
                   (is_original(s) || runtime_file_write_graph(s->o, &s->o->model.graph, "beside", &beside, error)) &&
                   profile_files(s, (const char *[]){file.path, is_original(s) ? NULL : beside.path}, &nodes, error);
    runtime_file_remove(&beside);
    runtime_file_remove(&file);
    return is_done;
}

static bool profile_at(struct optimizing *o, const struct graph *g, const struct cut_plan *cut, int set,
                       bool *ret_is_profiled, struct error *error)
{
    ARENA(arena);
    struct sized s = {.o = o, .whole = g, .set = set, .cut = cut, .arena = &arena};
    s.map = arena_array(&arena, tensor_id, g->tensors.count + 1);
    bool is_done = true;
    if (graph_cut_mapped(&s.runnable, g, NULL, cut, s.map)) {
        bool is_known = step_costs_know_session(o->search.step_costs, &s.runnable);
        is_done = is_known || profile(&s, error);
        *ret_is_profiled = *ret_is_profiled || !is_known;
        graph_free(&s.runnable);
    }
    return is_done;
}

static bool profile_graph(struct optimizing *o, const struct graph *g, bool *ret_is_profiled, struct error *error)
{
    struct cut_plan cut = o->inputs.cut;
    bool is_done = true;
    if (!o->inputs.cut.sizes)
        return profile_at(o, g, &cut, 0, ret_is_profiled, error);
    for (size_t i = 0; is_done && i < o->inputs.bindings.n_profiles; i++) {
        memcpy(cut.binding, o->inputs.bindings.profiles[i], sizeof cut.binding);
        is_done = profile_at(o, g, &cut, (int)i, ret_is_profiled, error);
    }
    return is_done;
}

// --- corrections -----------------------------------------------------------------------------------------------------

typedef VEC(const struct graph *) graph_list;

// The original, before anything is searched; then what was found.
static void list_graphs(struct optimizing *o, graph_list *ret_graphs)
{
    if (o->results.finalists.count == 0)
        vec_push(ret_graphs, &o->model.graph);
    for (size_t i = 0; i < o->results.finalists.count; i++)
        if (optimizing_is_rewritten(o, i))
            vec_push(ret_graphs, &o->results.finalists.items[i].result.graph);
}

// The largest change of an estimate, as a share of it.
static double adopt(struct optimizing *o, const graph_list *graphs)
{
    struct estimator e = optimizing_estimator(o);
    double *before = arena_array(&o->arena, double, graphs->count + 1), most = 0;
    for (size_t i = 0; i < graphs->count; i++)
        before[i] = estimator_seconds(&e, graphs->items[i]);
    step_costs_adopt_sessions(o->search.step_costs, &o->report.costs.corrections);
    for (size_t i = 0; i < graphs->count; i++) {
        double after = estimator_seconds(&e, graphs->items[i]);
        log_info(o->options->log, "sum of costs of %s: %.4g ms, in sessions %.4g ms",
                 o->results.finalists.count ? "a result" : "the original", 1e3 * before[i], 1e3 * after);
        if (isfinite(before[i]) && before[i] > 0 && isfinite(after))
            most = fmax(most, fabs(after / before[i] - 1));
    }
    return most;
}

// A profile is not interrupted: what it takes, by those before it, beyond the time for searching would be missing in
// the contest. The original, without which nothing is corrected, has one in any case.
static bool has_time(const struct optimizing *o)
{
    double end = time_limit_of_searching(&o->time.limit), seconds = fmax(SECONDS_OF_A_PROFILE, o->time.of_profile);
    return !interrupt_requested() && (o->results.finalists.count == 0 || end == 0 || clock_seconds() + seconds < end);
}

void optimizing_calibrate_in_runtime(struct optimizing *o, double *ret_change)
{
    struct error error = {0};
    LOCAL_LIST(graph_list, graphs);
    bool is_any = false, is_done = true;
    phases_enter(&o->time.phases, PHASE_PROFILING);
    *ret_change = 0;
    list_graphs(o, &graphs);
    for (size_t i = 0; is_done && i < graphs.count && has_time(o); i++)
        is_done = profile_graph(o, graphs.items[i], &is_any, &error);
    if (!is_done)
        log_info(o->options->log, "%s; costs are not corrected by sessions", error.message);
    if (!is_done && o->runtime.worker.is_gone)
        optimizing_do_without_runtime(o, &error);
    else if (is_any || o->results.finalists.count == 0)
        *ret_change = adopt(o, &graphs);
}
