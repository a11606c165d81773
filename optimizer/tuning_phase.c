// What a graph was run by before is noted with its texts, as compiled models have them, so that it can be run so again.
#include "optimizer/tuning_phase.h"

#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "backends/planning/planner.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "core/text/error.h"
#include "optimizer/contenders.h"
#include "optimizer/limits.def"
#include "tuning/former_choices.h"
#include "tuning/tune_graph.h"

// A graph as it was run before tuning.
struct former {
    struct contender way;
    step_choices list;
    struct former_choices *choices;
};

static double seconds_of_tuning(const struct optimizing *o, double share)
{
    return share * 60 * o->options->tune_minutes;
}

bool optimizing_check_tuning(struct optimizing *o)
{
    bool is_own = o->options->device == DEVICE_CPU && !o->runtime.is_open && !o->options->measure_command;
    return o->options->tune_minutes == 0 || is_own ||
           error_set_code(o->error, EXIT_USAGE, NULL,
                          "--tune is for models that our own executor runs: with --runtime taso, or a .taso file");
}

// --- what was before -------------------------------------------------------------------------------------------------

static bool find_way(struct optimizing *o, const struct graph *g, enum layout_policy policy, struct arena *arena,
                     struct contender *ret_way)
{
    struct error ignored = {0};
    *ret_way = (struct contender){.graph = g, .policy = policy, .finalist = NOT_A_FINALIST};
    o->backend->policy = policy;
    return backend_find_layouts(o->backend, g, arena, &ret_way->layouts, &ignored);
}

static bool note_former(struct optimizing *o, const struct graph *g, struct arena *arena, struct former *ret)
{
    struct plan plan = {0};
    struct error ignored = {0};
    *ret = (struct former){0};
    if (!find_way(o, g, LAYOUTS_BEST, arena, &ret->way))
        return false;
    struct plan_request request = backend_plan_request(o->backend, g, ret->way.layouts, arena);
    if (!plan_make(&plan, &request, &ignored))
        return false;
    ret->choices = former_choices_note(o->backend, &plan);
    backend_choose(o->backend, &plan);
    plan_list_choices(&plan, arena, &ret->list);
    ret->way.choices = &ret->list;
    plan_free(&plan);
    return true;
}

static void forget_former(struct former *f)
{
    if (f->choices)
        former_choices_free(f->choices);
    vec_free(&f->list);
}

// Times as fast; 1 where nothing is timed, and what is found is believed.
static double gain_of(struct optimizing *o, const struct former *before, enum layout_policy policy, struct arena *arena)
{
    struct contender ways[2] = {before->way};
    if (!optimizing_is_timed(o) || !backend_can_run(o->backend))
        return policy == LAYOUTS_TUNED ? 0 : 1;
    if (interrupt_requested() || !find_way(o, before->way.graph, policy, arena, &ways[1]))
        return 0;
    return contenders_gain(o, ways);
}

// --- kernels of the original -----------------------------------------------------------------------------------------

static void show_kernels(void *context, const struct tuning_progress *p)
{
    progress_update(context, (uint64_t)(100 * p->seconds / p->budget), "%zu steps, %zu trials, %.3f -> %.3f ms",
                    p->n_steps, p->n_tried, p->before * 1e3, p->now * 1e3);
}

static void tune_kernels(struct optimizing *o, const struct graph *g)
{
    struct progress progress;
    struct tuning_report report;
    const struct tuning_options options = {.seconds = seconds_of_tuning(o, SHARE_OF_ORIGINAL),
                                           .seed = (uint64_t)o->options->seed,
                                           .learns = true,
                                           .reuses = true,
                                           .context = &progress,
                                           .progress = show_kernels};
    progress_start(&progress, o->options->progress, "tuning the original", 100);
    tune_graph(o->backend, g, LAYOUTS_BEST, &options, &report);
    progress_end(&progress);
    o->report.tuned.kernels = report.total;
    tuning_report_free(&report);
}

void optimizing_tune_original(struct optimizing *o)
{
    struct graph runnable;
    ARENA(arena);
    struct former former;
    if (o->options->tune_minutes == 0 || !graph_cut(&runnable, &o->model.graph, NULL, &o->inputs.cut))
        return;
    enum phase before = phases_enter(&o->time.phases, PHASE_TUNING);
    if (note_former(o, &runnable, &arena, &former)) {
        tune_kernels(o, &runnable);
        o->report.tuned.kernels_gain = gain_of(o, &former, LAYOUTS_BEST, &arena);
        if (o->report.tuned.kernels_gain == 0)
            former_choices_restore(former.choices, o->backend);
    }
    forget_former(&former);
    phases_enter(&o->time.phases, before);
    graph_free(&runnable);
}

// --- all passes ------------------------------------------------------------------------------------------------------

#define MOST_GRAPHS 8

struct tuned_graphs {
    struct optimizing *o;
    struct arena arena;
    size_t n;
    struct graph graphs[MOST_GRAPHS];
    const struct graph *all[MOST_GRAPHS];
    struct former formers[MOST_GRAPHS];
    struct progress progress;
    double started;
};

static void show_passes(void *context, double before, double now, size_t n_evaluated)
{
    struct tuned_graphs *t = context;
    double share = (clock_seconds() - t->started) / seconds_of_tuning(t->o, 1 - SHARE_OF_ORIGINAL);
    progress_update(&t->progress, (uint64_t)(100 * share), "%zu candidates, %.3f -> %.3f ms", n_evaluated, before * 1e3,
                    now * 1e3);
}

static void add_graph(struct tuned_graphs *t, const struct graph *g)
{
    struct graph *cut = &t->graphs[t->n];
    const struct graph *original = t->n ? &t->o->model.graph : NULL;
    if (t->n == MOST_GRAPHS || !graph_cut(cut, g, original, &t->o->inputs.cut))
        return;
    t->all[t->n] = cut;
    if (note_former(t->o, cut, &t->arena, &t->formers[t->n]))
        t->n++;
    else
        graph_free(cut);
}

static void add_graphs(struct tuned_graphs *t)
{
    add_graph(t, &t->o->model.graph);
    for (size_t i = 0; i < t->o->results.finalists.count; i++)
        if (optimizing_is_rewritten(t->o, i))
            add_graph(t, &t->o->results.finalists.items[i].result.graph);
}

// The first finalist is what is taken without any search.
static bool search(struct tuned_graphs *t)
{
    struct optimizing *o = t->o;
    struct error error = {0};
    const struct passes_options options = {.n_graphs = t->n,
                                           .graphs = t->all,
                                           .standard_graph = t->n > 1,
                                           .seconds = seconds_of_tuning(o, 1 - SHARE_OF_ORIGINAL),
                                           .seed = (uint64_t)o->options->seed,
                                           .has_store = true,
                                           .context = t,
                                           .progress = show_passes};
    o->results.passes = passes_new(o->backend);
    t->started = clock_seconds();
    progress_start(&t->progress, o->options->progress, "tuning all passes", 100);
    bool is_done = passes_search(o->results.passes, &options, &o->report.tuned.passes, &error);
    progress_end(&t->progress);
    return is_done;
}

static void adopt_or_restore(struct tuned_graphs *t)
{
    struct optimizing *o = t->o;
    o->backend->tuned = passes_decisions(o->results.passes);
    o->report.tuned.passes_gain = gain_of(o, &t->formers[o->report.tuned.passes.graph], LAYOUTS_TUNED, &t->arena);
    if (o->report.tuned.passes_gain > 0)
        return;
    o->backend->tuned = NULL;
    for (size_t i = 0; i < t->n; i++)
        former_choices_restore(t->formers[i].choices, o->backend);
}

static void free_graphs(struct tuned_graphs *t)
{
    for (size_t i = 0; i < t->n; i++) {
        forget_former(&t->formers[i]);
        graph_free(&t->graphs[i]);
    }
    arena_free(&t->arena);
}

void optimizing_tune_passes(struct optimizing *o)
{
    struct tuned_graphs t = {.o = o};
    if (o->options->tune_minutes == 0 || o->results.passes)
        return;
    enum phase before = phases_enter(&o->time.phases, PHASE_TUNING);
    add_graphs(&t);
    if (t.n && search(&t))
        adopt_or_restore(&t);
    free_graphs(&t);
    phases_enter(&o->time.phases, before);
}

void optimizing_end_tuning(struct optimizing *o)
{
    if (o->results.passes)
        passes_free(o->results.passes);
    o->results.passes = NULL;
}
