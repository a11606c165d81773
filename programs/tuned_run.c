// Both ways to run the model are timed in several loads, by turns. That of before stays where the tuned one is not
// faster as a whole, beyond the noise.
#include "programs/tuned_run.h"

#include "core/memory/arena.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/limits.def"
#include "optimizer/run/contest.h"
#include "tuning/former_choices.h"
#include "tuning/tune_plan.h"
#include <stdio.h>

#define SECONDS_BETWEEN_LINES 10

struct teller {
    const char *program;
    double last;   // seconds since the beginning
};

static void tell_progress(void *context, const struct tuning_progress *p)
{
    struct teller *teller = context;
    if (p->seconds - teller->last < SECONDS_BETWEEN_LINES)
        return;
    teller->last = p->seconds;
    fprintf(stderr, "%s: tuning: %.0f of %.0f s, %zu steps, %zu trials (%zu known before), %.3f -> %.3f ms\n",
            teller->program, p->seconds, p->budget, p->n_steps, p->n_tried, p->n_recalled, p->before * 1e3,
            p->now * 1e3);
}

static bool tune(const struct tuned_run *run, const struct plan *plan, struct error *error)
{
    TEXT(text);
    struct tuning_report report FREED_BY(tuning_report_free);
    struct teller teller = {run->program, 0};
    const struct tuning_options options = {.seconds = run->seconds,
                                           .seed = run->seed,
                                           .command = run->command,
                                           .part = run->part,
                                           .parts = run->parts,
                                           .learns = true,
                                           .reuses = true,
                                           .reuses_former = true,
                                           .context = &teller,
                                           .progress = tell_progress};
    tune_plan(run->backend, plan, &options, &report);
    tuning_report_print(&text, &report, plan);
    log_show(stdout, text.chars);
    bool is_done = !report.error.message[0];
    if (!is_done)
        *error = report.error;
    return is_done;
}

// --- before and after ------------------------------------------------------------------------------------------------

struct way {
    struct former_choices *choices;
    struct within_error within;   // of the model by these
    struct model *model;          // while it is loaded
};
struct ways {
    const struct tuned_run *run;
    struct tensor_value *outputs;
    struct way all[2];
};

static bool load(void *context, size_t i, struct error *error)
{
    struct ways *w = context;
    struct way *way = &w->all[i];
    former_choices_restore(way->choices, w->run->backend);
    w->run->loaded->within = way->within;
    way->model = loaded_model_prepare(w->run->loaded, w->run->backend, error);
    way->within = w->run->loaded->within;
    return way->model;
}

static bool run(void *context, size_t i, double *ret_seconds, struct error *error)
{
    struct ways *w = context;
    return model_time(w->all[i].model, w->run->inputs, w->outputs, ret_seconds, error);
}

static void unload(void *context, size_t i)
{
    model_free(((struct ways *)context)->all[i].model);
}

static void tell(const struct contest_outcome *o, bool is_gain)
{
    const char *end = is_gain ? "" : ", so it stays as it was";
    if (o->is_disturbed || o->is_undecided)
        printf("not timed, as %s%s\n", o->is_disturbed ? "others use this machine" : "it was interrupted", end);
    else
        printf("tuned from %.3f to %.3f ms: %.3f times as fast (95 %% interval %.3f to %.3f, %zu loads)%s\n",
               o->times[0].median * 1e3, o->times[1].median * 1e3, o->gain.ratio, o->gain.low, o->gain.high,
               o->gain.n_loads, end);
}

static bool time_both(struct ways *w, bool *ret_is_gain, struct error *error)
{
    static const bool is_result[] = {false, true};
    const struct contest_runner runner = {w, load, run, unload, NULL, NULL};
    const struct contest c = {.n = 2,
                              .is_result = is_result,
                              .seconds = w->run->measure_seconds,
                              .loads = CONTEST_LOADS,
                              .prepares_all = true};
    struct contest_outcome outcome = {.gain = {0}};
    if (!contest_hold(&runner, &c, &outcome, error))
        return false;
    *ret_is_gain = !outcome.is_disturbed && !outcome.is_undecided && ratio_is_a_gain(&outcome.gain);
    tell(&outcome, *ret_is_gain);
    return true;
}

bool tuned_run_replace(const struct tuned_run *run, struct model **model, struct error *error)
{
    ARENA(arena);
    size_t n = run->loaded->graph->outputs.count;
    struct ways w = {.run = run, .outputs = arena_array(&arena, struct tensor_value, n + 1)};
    bool is_gain = false;
    model_allocate_outputs(*model, w.outputs, &arena);
    w.all[0] = (struct way){.choices = former_choices_note(run->backend), .within = run->loaded->within};
    bool is_done = tune(run, model_plan(*model), error);
    w.all[1].choices = former_choices_note(run->backend);
    model_free(*model);
    is_done = is_done && time_both(&w, &is_gain, error);
    *model = load(&w, is_gain, is_done ? error : &(struct error){0}) ? w.all[is_gain].model : NULL;
    former_choices_free(w.all[0].choices);
    former_choices_free(w.all[1].choices);
    return is_done && *model;
}
