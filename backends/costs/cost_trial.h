// Whether costs that another run of a program has left are what steps take here and now. What else the machine did
// while that ran makes some steps longer than others, nothing in a cost tells it afterwards, and a search compares such
// costs with those that it measures itself. So some costs of each run are measured again when they are used: the
// first ones, and one in eight of the others. What was wrong is replaced; a run of which several were, more than
// half, is refuted, unless all were wrong by the same factor: then the machine had another speed, and all costs of the
// run are divided by it. A measurement that other programs disturb only says that a cost is too long.
#pragma once
#include "backends/contract/backend.h"

struct cost_trial {
    uint32_t run;
    bool is_refuted;
    uint32_t n_noted, n_wrong;
    double least, most;   // of the ratios of what was kept to what it takes now
    double factor;        // what its costs are to be divided by: 1, or the middle of these
    bool is_doubtful;     // some of these are
};
typedef VEC(struct cost_trial) cost_trials;

bool cost_trials_refute(const cost_trials *trials, uint32_t run);
// Is a cost of another run to be measured again before it is believed?
bool cost_trials_ask_for(const cost_trials *trials, const char *text, const struct step_cost *kept);
bool cost_trials_agree(const struct step_cost *kept, const struct step_cost *now);
// The trial of the run after one more of its costs; until the next call.
const struct cost_trial *cost_trials_note(cost_trials *trials, const struct step_cost *kept,
                                          const struct step_cost *now);
void cost_trials_forget(cost_trials *trials, uint32_t run);   // whose costs were divided: others are tried anew
// That a run which left so many costs is refuted, or had another speed, in one line.
void cost_trial_tell(const struct cost_trial *trial, size_t n_costs, const struct log *log);
