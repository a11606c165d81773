// Trials of choices. A choice that fails is no candidate; where all do it is what models run then.
#include "backends/costs/choices.h"

#include <math.h>

const char *choices_find_best(const choice_list *among, double best, const struct choice_limits *limits,
                              time_choice_fn *time, void *context, struct step_cost *ret_trial)
{
    const char *found = "";
    double least = INFINITY;
    int n_worse = 0;
    *ret_trial = (struct step_cost){.seconds = INFINITY};
    if (among->count == 1)
        return among->items[0].text;
    for (size_t i = 0; i < among->count && least > limits->enough; i++) {
        struct step_cost cost;
        if (limits->patience && n_worse == limits->patience)
            break;
        if (!time(context, among->items[i].text, TRIAL_SAMPLES, fmin(least, best), &cost))
            continue;
        n_worse = cost.seconds < least ? 0 : n_worse + 1;
        if (cost.seconds >= least)
            continue;
        found = among->items[i].text;
        least = cost.seconds;
        *ret_trial = cost;
    }
    return found;
}
