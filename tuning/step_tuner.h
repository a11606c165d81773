// Tuning one step of a plan in one space of schedules: the search, what the cost database knows of its trials, and the
// contest of the best of them with what the step runs by so far.
#pragma once
#include "backends/contract/backend.h"
#include "tuning/model/cost_model.h"
#include "tuning/reuse/reuse_plan.h"
#include "tuning/search/grid_search.h"

struct step_tuner;
struct step_tuning {
    struct backend *backend;
    const struct plan *plan;   // with the step; outlives the tuner
    const struct step *step;
    const struct schedule_space *space;   // is copied
    uint64_t seed;
    struct cost_model *model;   // of all steps with this sketch; NULL: none is learned
    bool is_bridge;             // the plan's model has no such step: its trials are all that is wanted
    const char *former_key;     // of a step with its loops, whose trials are known; NULL: there is none
    const char *command;        // that times schedules (timings.h); NULL: they are timed here
};
// The known facts of a step.
struct step_tuner_state {
    double before, now;           // seconds by its choice at first and now, as they were timed beside each other
    size_t n_tried, n_recalled;   // schedules: by this tuner; found in the database
    size_t n_suitable;            // of the space
    size_t n_fruitless;           // batches since the last gain, and of former trials some
    bool is_reusing;              // another step's best
    bool is_over;                 // every schedule was tried
    char choice[CHOICE_SIZE];     // by which it runs now
};
// NULL: no schedule suits the step.
struct step_tuner *step_tuner_new(const struct step_tuning *tuning);
void step_tuner_free(struct step_tuner *t);
// The node for plans of reuse, but for the trials that it takes without; lives as long as the tuner.
struct reuse_node step_tuner_node(struct step_tuner *t);
// The next trials are those of reuse, until these are over.
void step_tuner_reuse(struct step_tuner *t, struct step_tuner *from);
// Tries so many schedules, and adopts one that gains. False: it ends here, interrupted (no error), or as the command
// failed.
bool step_tuner_advance(struct step_tuner *t, size_t n_trials, struct error *error);
// Adds its best trials, the fastest first.
void step_tuner_list_best(const struct step_tuner *t, size_t most, choice_list *list);
const struct step_tuner_state *step_tuner_state(const struct step_tuner *t);
