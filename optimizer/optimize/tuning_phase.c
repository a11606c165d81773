// The untuned result is kept as a compiled model, and timed beside the compiled model that tuning comes to: the contest
// is held over what is written, read as it will be.
#include "optimizer/optimize/tuning_phase.h"

#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "optimizer/limits.def"
#include "optimizer/measure/choices_in_place.h"
#include "optimizer/measure/contenders.h"
#include "optimizer/optimize/compilation.h"
#include "tuning/former_choices.h"
#include "tuning/tune_graph.h"
#include <string.h>

struct untuned {
    struct graph graph;               // as it is run
    const char *file;                 // the compiled model, where whole models are timed; NULL: there is none
    struct former_choices *choices;   // in the cost database
    struct reported_timing timing;
    enum layout_policy policies[2];
    struct within_error within[2];
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

// --- the outcome of a contest ----------------------------------------------------------------------------------------

// The faster one of the original and a finalist, as they were timed last, as it is run.
static bool find_winner(struct optimizing *o, size_t finalist, struct graph *ret_graph)
{
    bool is_result = o->report.timing.is_faster;
    const struct graph *winner = is_result ? &o->results.finalists.items[finalist].result.graph : &o->model.graph;
    return graph_cut(ret_graph, winner, is_result ? &o->model.graph : NULL, &o->inputs.cut);
}

// The winner as a compiled model, where whole models are timed. NULL: there is none.
static const char *compile(struct optimizing *o, const struct graph *winner, const char *name)
{
    struct error error = {0};
    struct temporary_folder *folder = &o->results.folder;
    if (!optimizing_is_timed(o) || interrupt_requested())
        return NULL;
    enum phase before = phases_enter(&o->time.phases, PHASE_WRITING);
    bool is_done = folder->path[0] || temporary_folder_make(folder, &error);
    const char *path = arena_printf(&o->arena, "%s/%s.taso", folder->path, name);
    is_done = is_done && optimizing_compile(o, winner, o->report.timing.is_faster, path, &error);
    phases_enter(&o->time.phases, before);
    if (!is_done && !interrupt_requested())
        log_warning(o->options->log, "%s: not tuned, as it cannot be compiled: %s%s%s", o->options->input, error.file,
                    error.file[0] ? ": " : "", error.message);
    return is_done ? path : NULL;
}

void optimizing_forget_untuned(struct untuned *u)
{
    former_choices_free(u->choices);
    vec_free(&u->timing.contenders);
    graph_free(&u->graph);
    mem_free(u, sizeof *u);
}

// --- kernels of the untuned result -----------------------------------------------------------------------------------

static void show_kernels(void *context, const struct tuning_progress *p)
{
    progress_update(context, (uint64_t)(100 * p->seconds / p->budget), "%zu steps, %zu trials, %.3f -> %.3f ms",
                    p->n_steps, p->n_tried, p->before * 1e3, p->now * 1e3);
}

static void tune_kernels(struct optimizing *o, const struct graph *g, enum layout_policy policy)
{
    struct progress progress;
    struct error ignored = {0};
    const struct tuning_options options = {.seconds = seconds_of_tuning(o, SHARE_OF_KERNELS_ALONE),
                                           .seed = (uint64_t)o->options->seed,
                                           .learns = true,
                                           .reuses = true,
                                           .reuses_former = true,
                                           .context = &progress,
                                           .progress = show_kernels};
    progress_start(&progress, o->options->progress, "tuning kernels", 100);
    struct graph_tuning *t = graph_tuning_new(o->backend, g, policy, &options);
    if (t) {
        plan_tuning_advance(graph_tuning_of_plan(t), options.seconds, &ignored);
        o->report.tuned.kernels = plan_tuning_progress(graph_tuning_of_plan(t));
        graph_tuning_free(t);
    }
    progress_end(&progress);
    backend_save_costs(o->backend, &ignored);
}

struct untuned *optimizing_tune_untuned(struct optimizing *o, size_t finalist)
{
    struct untuned *u = mem_alloc_zero(sizeof *u);
    bool is_there = find_winner(o, finalist, &u->graph);
    u->file = is_there ? compile(o, &u->graph, "untuned") : NULL;
    if (!is_there || (optimizing_is_timed(o) && !u->file)) {
        graph_free(&u->graph);
        mem_free(u, sizeof *u);
        return NULL;
    }
    u->choices = former_choices_note(o->backend);
    u->timing = o->report.timing;
    memcpy(u->policies, o->results.policies, sizeof u->policies);
    memcpy(u->within, o->report.costs.within, sizeof u->within);
    o->report.timing = (struct reported_timing){.n_timed = 0};
    phases_enter(&o->time.phases, PHASE_TUNING);
    tune_kernels(o, &u->graph, u->file ? u->policies[u->timing.is_faster] : LAYOUTS_BEST);
    return u;
}

// --- all passes ------------------------------------------------------------------------------------------------------

#define MOST_GRAPHS 8

struct tuned_graphs {
    struct optimizing *o;
    size_t n;
    struct graph graphs[MOST_GRAPHS];
    const struct graph *all[MOST_GRAPHS];
    struct progress progress;
    double started;
};

static void show_passes(void *context, double before, double now, size_t n_evaluated)
{
    struct tuned_graphs *t = context;
    double share =
        (clock_seconds() - t->started) / seconds_of_tuning(t->o, 1 - SHARE_OF_KERNELS_ALONE - SHARE_IN_PLACE);
    progress_update(&t->progress, (uint64_t)(100 * share), "%zu candidates, %.3f -> %.3f ms", n_evaluated, before * 1e3,
                    now * 1e3);
}

static void add_graph(struct tuned_graphs *t, const struct graph *g)
{
    const struct graph *original = t->n ? &t->o->model.graph : NULL;
    if (t->n == MOST_GRAPHS || !graph_cut(&t->graphs[t->n], g, original, &t->o->inputs.cut))
        return;
    t->all[t->n] = &t->graphs[t->n];
    t->n++;
}

static void add_graphs(struct tuned_graphs *t)
{
    add_graph(t, &t->o->model.graph);
    for (size_t i = 0; i < t->o->results.finalists.count; i++)
        if (optimizing_is_rewritten(t->o, i))
            add_graph(t, &t->o->results.finalists.items[i].result.graph);
}

// The first finalist is what is taken without any search.
static void search(struct tuned_graphs *t)
{
    struct optimizing *o = t->o;
    struct error ignored = {0};
    const struct passes_options options = {.n_graphs = t->n,
                                           .graphs = t->all,
                                           .standard_graph = t->n > 1,
                                           .seconds = seconds_of_tuning(o, 1 - SHARE_OF_KERNELS_ALONE - SHARE_IN_PLACE),
                                           .seed = (uint64_t)o->options->seed,
                                           .has_store = true,
                                           .context = t,
                                           .progress = show_passes};
    o->results.passes = passes_new(o->backend);
    t->started = clock_seconds();
    progress_start(&t->progress, o->options->progress, "tuning all passes", 100);
    if (passes_search(o->results.passes, &options, &o->report.tuned.passes, &ignored) && optimizing_is_timed(o))
        o->backend->tuned = passes_decisions(o->results.passes);
    progress_end(&t->progress);
}

// Decisions of passes are adopted with what they gain, and so are choices that were made for them.
void optimizing_tune_passes(struct optimizing *o, const struct untuned *u)
{
    struct tuned_graphs t = {.o = o};
    struct former_choices *former = former_choices_note(o->backend);
    enum phase before = phases_enter(&o->time.phases, PHASE_TUNING);
    add_graphs(&t);
    if (t.n)
        search(&t);
    if (optimizing_is_timed(o))
        optimizing_choose_in_place(o, u->choices, seconds_of_tuning(o, SHARE_IN_PLACE));
    else
        former_choices_restore(former, o->backend);
    former_choices_free(former);
    for (size_t i = 0; i < t.n; i++)
        graph_free(&t.graphs[i]);
    phases_enter(&o->time.phases, before);
}

// --- the verdict -----------------------------------------------------------------------------------------------------

// 0: it is not faster, or cannot be timed. Its file, where it is.
static double gain_of(struct optimizing *o, const struct untuned *u, size_t finalist, const char **ret_file)
{
    struct graph graph FREED_BY(graph_free) = {0};
    *ret_file = find_winner(o, finalist, &graph) ? compile(o, &graph, "tuned") : NULL;
    return *ret_file ? contenders_gain(o, &graph, (const char *const[]){u->file, *ret_file}) : 0;
}

static void take_back(struct optimizing *o, struct untuned *u)
{
    struct reported_timing tuned = o->report.timing;
    o->backend->tuned = NULL;
    former_choices_restore(u->choices, o->backend);
    o->report.timing = u->timing;
    u->timing = tuned;
    memcpy(o->results.policies, u->policies, sizeof u->policies);
    memcpy(o->report.costs.within, u->within, sizeof u->within);
}

bool optimizing_adopt_tuned(struct optimizing *o, struct untuned *u, size_t finalist)
{
    const char *file;
    o->report.tuned.is_timed = optimizing_is_timed(o);
    if (!o->report.tuned.is_timed)
        return true;
    o->report.tuned.gain = gain_of(o, u, finalist, &file);
    bool is_adopted = o->report.tuned.gain > 0;
    if (!is_adopted)
        take_back(o, u);
    o->results.timed_files[o->report.timing.is_faster] = is_adopted ? file : u->file;
    return is_adopted;
}

void optimizing_end_tuning(struct optimizing *o)
{
    if (o->results.passes)
        passes_free(o->results.passes);
    o->results.passes = NULL;
}
