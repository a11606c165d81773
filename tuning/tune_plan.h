// Tuning the generated kernels of a plan within a time: each step that has spaces of schedules is searched, those first
// whose share of the time is large and that still gain. What is found is in the cost database at any time: trials, and
// the choice of each step.
#pragma once
#include "backends/contract/backend.h"
#include "core/text/error.h"
#include "tuning/step_tuner.h"

struct tuning_progress {
    double seconds, budget;   // since the beginning
    size_t n_steps;           // different ones that have spaces
    size_t n_tried, n_recalled;
    double before, now;   // seconds of all of these steps, as often as they run
    double r;             // of the learned model of costs; 0: there is none
};
struct tuned_step {
    const struct step *step;
    size_t n_times;                  // that it runs in the plan
    struct step_tuner_state state;   // seconds are of one run
};
struct tuning_options {
    double seconds;
    size_t most_trials;   // of each space; 0: no limit
    uint64_t seed;
    bool learns;                      // a model of costs
    bool reuses;                      // schedules of other steps (reuse/reuse_plan.h)
    bool reuses_former;               // and of steps that other models have (former_steps.h)
    const char *command;              // that times schedules (timings.h); NULL: they are timed here
    int part, parts;                  // only every such step, by its text, where several share the work; parts 0: all
    double (*clock)(void *context);   // on which `seconds` are counted; NULL: the clock
    void *context;
    void (*progress)(void *context, const struct tuning_progress *progress);   // now and then; may be NULL
};
struct tuning_report {
    struct tuning_progress total;
    struct error error;             // of the command, which ended it; empty: none
    VEC(struct tuned_step) steps;   // one for each space of each step, in the order of the plan
};
// Interrupted, it ends with what was found so far. Costs derived from the database are forgotten.
void tune_plan(struct backend *b, const struct plan *plan, const struct tuning_options *options,
               struct tuning_report *ret_report);
void tuning_report_free(struct tuning_report *report);
void tuning_report_print(struct text *text, const struct tuning_report *report, const struct plan *plan);

// The same in parts, for whoever does other things between them. The backend and the plan outlive it.
struct plan_tuning;
struct plan_tuning *plan_tuning_new(struct backend *b, const struct plan *plan, const struct tuning_options *options);
// For so long, but at least a batch of trials. False: nothing is left to try, the command failed, or the user wants an
// end.
bool plan_tuning_advance(struct plan_tuning *t, double seconds, struct error *error);
// Adds the best trials of a step, at most so many of each of its spaces.
void plan_tuning_list_best(const struct plan_tuning *t, const struct step *step, size_t most, choice_list *list);
struct tuning_progress plan_tuning_progress(const struct plan_tuning *t);
void plan_tuning_free(struct plan_tuning *t);
