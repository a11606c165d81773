// The model of before stays until both were timed, and for good where the tuned one is not faster as a whole.
#include "optimizer/programs/tuned_run.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "optimizer/run/side_by_side.h"
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
    struct tuning_report report;
    struct teller teller = {run->program, 0};
    const struct tuning_options options = {.seconds = run->seconds,
                                           .seed = run->seed,
                                           .command = run->command,
                                           .part = run->part,
                                           .parts = run->parts,
                                           .learns = true,
                                           .reuses = true,
                                           .context = &teller,
                                           .progress = tell_progress};
    tune_plan(run->backend, plan, &options, &report);
    tuning_report_print(&text, &report, plan);
    text_show(stdout, text.chars);
    tuning_report_free(&report);
    bool is_done = !report.error.message[0];
    if (!is_done)
        *error = report.error;
    return is_done;
}

static bool time_both(const struct tuned_run *run, struct model *before, struct model *after, bool *ret_is_faster,
                      struct error *error)
{
    ARENA(arena);
    struct sample_summary times[2];
    struct timed_model both[2] = {{before, run->inputs, NULL}, {after, run->inputs, NULL}};
    for (int i = 0; i < 2; i++) {
        both[i].outputs = arena_array(&arena, struct tensor_value, run->loaded->graph->outputs.count + 1);
        model_allocate_outputs(both[i].model, both[i].outputs, &arena);
    }
    bool is_done = models_time_side_by_side(both, 2, run->warmup, run->repeats, times, error);
    *ret_is_faster = is_done && times[1].median < times[0].median;
    if (is_done)
        printf("tuned from %.3f to %.3f ms: %.3f times as fast%s\n", times[0].median * 1e3, times[1].median * 1e3,
               times[0].median / times[1].median, *ret_is_faster ? "" : ", so it stays as it was");
    return is_done;
}

bool tuned_run_replace(const struct tuned_run *run, struct model **model, struct error *error)
{
    struct former_choices *former = former_choices_note(run->backend);
    bool is_faster = false;
    bool is_tuned = tune(run, model_plan(*model), error);
    struct model *tuned = is_tuned ? loaded_model_prepare(run->loaded, run->backend, error) : NULL;
    bool is_done = tuned && time_both(run, *model, tuned, &is_faster, error);
    model_free(is_faster ? *model : tuned);
    *model = is_faster ? tuned : *model;
    if (!is_faster)
        former_choices_restore(former, run->backend);
    former_choices_free(former);
    return is_done;
}
