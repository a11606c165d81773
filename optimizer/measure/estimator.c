// Costs of graphs, cut to what can be run and added over profiles.
#include "optimizer/measure/estimator.h"

#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "graph/graph_whole.h"

#include "core/memory/memory.h"
#include "core/system/cores.h"
#include "core/text/error.h"
#include "operators/traits.h"
#include <math.h>
#include <string.h>

// Operators that run each time; a split is a part of what it splits.
static size_t count_operators(const struct graph *g)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ARRAY(bool, varies, g->tensors.count + 1);
    size_t n_operators = 0;
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        bool is_variable = node->op->id == OP_INPUT || ANY(uint32_t, i, node->n_inputs, varies[graph_inputs(g, n)[i]]);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            varies[graph_output_of(g, n, i)] = is_variable;
        n_operators += live[n] && is_variable && node->n_inputs > 0 && !operator_splits(node->op);
    }
    return n_operators;
}

static bool estimate_runnable(const struct estimator *e, const struct graph *g, struct estimate *ret_estimate)
{
    struct coster *coster = e->in_runtime ? e->in_runtime : &e->backend->coster;
    e->backend->policy = e->policy;
    return coster->estimate(coster, g, e->only_recalls, ret_estimate);
}

static bool estimate_cut(const struct estimator *e, const struct graph *g, const struct cut_plan *cut,
                         struct estimate *ret_estimate)
{
    struct graph runnable FREED_BY(graph_free);
    *ret_estimate = (struct estimate){.seconds = INFINITY};
    return !graph_cut(&runnable, g, NULL, cut) || estimate_runnable(e, &runnable, ret_estimate);
}

static void add_estimate(struct estimate *sum, const struct estimate *more)
{
    sum->seconds += more->seconds;
    sum->gap = fmax(sum->gap, more->gap);
    sum->n_steps += more->n_steps;
    sum->n_guessed += more->n_guessed;
}

// The estimate of a model with symbols is that for all profiles in sum. What is ill-typed at one of them is never cheap
// enough.
bool estimator_estimate(const struct estimator *e, const struct graph *g, struct estimate *ret_estimate)
{
    if (!e->cut->is_needed)
        return estimate_runnable(e, g, ret_estimate);
    if (!e->cut->sizes)
        return estimate_cut(e, g, e->cut, ret_estimate);
    *ret_estimate = (struct estimate){0};
    for (size_t i = 0; i < e->bindings->n_profiles; i++) {
        struct cut_plan cut = *e->cut;
        struct estimate one;
        memcpy(cut.binding, e->bindings->profiles[i], sizeof cut.binding);
        if (!estimate_cut(e, g, &cut, &one))
            return false;
        add_estimate(ret_estimate, &one);
    }
    return true;
}

double estimator_seconds(void *context, const struct graph *g)
{
    const struct estimator *e = context;
    struct estimate estimate;
    if (!estimator_estimate(e, g, &estimate))
        return e->when_unknown;
    return e->per_operator > 0 ? estimate.seconds + e->per_operator * (double)count_operators(g) : estimate.seconds;
}

double estimator_known_seconds(void *context, const struct graph *g)
{
    struct estimator e = *(const struct estimator *)context;
    e.only_recalls = true;
    e.when_unknown = NAN;
    return estimator_seconds(&e, g);
}

double estimator_expected_seconds(void *context, const struct graph *g)
{
    const struct estimator *e = context;
    e->backend->policy = e->policy;
    if (!e->cut->is_needed)
        backend_expect(e->backend, g);
    return NAN;
}

enum layout_policy optimizing_policy_of(enum layout_strategy strategy)
{
    return strategy == STRATEGY_STANDARD ? LAYOUTS_STANDARD : strategy == STRATEGY_JOINT ? LAYOUTS_BEST : LAYOUTS_PLAIN;
}

struct estimator optimizing_estimator(struct optimizing *o)
{
    return (struct estimator){.cut = &o->inputs.cut,
                              .bindings = &o->inputs.bindings,
                              .backend = o->backend,
                              .in_runtime = o->search.step_costs,
                              .policy = optimizing_policy_of(o->search.layout),
                              .when_unknown = INFINITY};
}

// Backends for the threads of the search: the backend itself, and more that know what the database does. All of them
// only recall costs while others do. So the first thread has at hand what was learned of costs between jobs, and what
// was measured.
void optimizing_open_estimators(struct optimizing *o)
{
    size_t n = o->options->search_threads ? (size_t)o->options->search_threads : (size_t)cores_available();
    struct backend_options chosen = optimizing_backend_options(o);
    struct error error = {0};
    chosen.log = NULL;
    for (size_t i = 0; n > 1 && i < n; i++) {
        struct backend *b = i == 0 || o->search.step_costs ? o->backend : optimizing_open_device(o, &chosen, &error);
        if (!b)
            break;
        backend_expect_model(b, optimizing_bytes_of_weights(o));
        if (b != o->backend)
            backend_take_back_as(b, o->backend);
        struct estimator worker = optimizing_estimator(o);
        worker.backend = b;
        worker.when_unknown = NAN;
        worker.only_recalls = true;
        vec_push(&o->search.workers, worker);
    }
}

void optimizing_close_estimators(struct optimizing *o)
{
    for (size_t i = 1; i < o->search.workers.count && !o->search.step_costs; i++)
        backend_close(o->search.workers.items[i].backend);
    vec_free(&o->search.workers);
}

double optimizing_seconds_per_operator(struct optimizing *o, double share)
{
    struct estimator plain = optimizing_estimator(o);
    size_t n = count_operators(&o->model.graph);
    return share > 0 && n ? share * estimator_seconds(&plain, &o->model.graph) / (double)n : 0;
}
