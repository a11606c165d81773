// One that fails is no candidate; where all do it is what models run then.
#include "backends/costs/choices.h"

#include <math.h>

const char *choices_find_best(const choice_list *among, double best, time_choice_fn *time, void *context)
{
    const char *found = "";
    double least = INFINITY;
    if (among->count == 1)
        return among->items[0].text;
    for (size_t i = 0; i < among->count; i++) {
        struct step_cost cost;
        if (time(context, among->items[i].text, TRIAL_SAMPLES, fmin(least, best), &cost) && cost.seconds < least) {
            least = cost.seconds;
            found = among->items[i].text;
        }
    }
    return found;
}
