// Whether costs that another run of a program has left are what steps take here and now. What else the machine did
// while that ran makes some steps longer than others, nothing in a cost tells it afterwards, and a search compares such
// costs with those that it measures itself. So some costs of each run are measured again when they are used: the
// first ones, one in eight of the others until there are enough, and all where these contradict. What was wrong is
// replaced; a run of which most were is refuted, unless they are wrong by about one factor: then the machine had
// another speed, and all costs of the run are divided by it. As the beginning of a program may mislead, both halves of
// what was measured have to say so, in the order of time; each further cost judges again, and a speed that later
// ones contradict is withdrawn. A measurement that other programs disturb only says that a cost is too long.
#pragma once
#include "backends/contract/backend.h"
#include "core/numbers/statistics.h"

enum cost_verdict { COSTS_STAND, COSTS_REFUTED, COSTS_OF_ANOTHER_SPEED };
struct cost_trial {
    uint32_t run;
    VEC(double) ratios;   // of what was kept to what it takes now, in the order of time
    size_t n_doubtful;    // of these
    struct sample_summary summary;
    enum cost_verdict verdict;
};
typedef VEC(struct cost_trial) cost_trials;

void cost_trials_free(cost_trials *trials);
enum cost_verdict cost_trials_verdict(const cost_trials *trials, uint32_t run);
double cost_trials_factor(const cost_trials *trials, uint32_t run);   // that its costs are to be divided by
// Is a cost of another run to be measured again before it is believed?
bool cost_trials_ask_for(const cost_trials *trials, const char *text, const struct step_cost *kept);
bool cost_trials_agree(double kept, const struct step_cost *now);
// The trial of the run after one more of its costs, as it was kept; until the next call.
const struct cost_trial *cost_trials_note(cost_trials *trials, uint32_t run, double kept, const struct step_cost *now);
// The verdict on a run which left so many costs, in one line.
void cost_trial_tell(const struct cost_trial *trial, size_t n_costs, const struct log *log);
