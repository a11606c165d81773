// Trials of runs by the ratios of what was kept to what it takes now.
#include "backends/costs/cost_trial.h"

#include "backends/limits.def"
#include "core/memory/hash.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include <math.h>

#define FIRST_COSTS 5         // of a run, all of which are measured again
#define SHARE_OF_OTHERS 8     // one in so many
#define LEAST_REFUTING 3      // costs that are wrong
#define SHARE_OF_REFUTING 2   // and more than one in so many

static const struct cost_trial *find_trial(const cost_trials *trials, uint32_t run)
{
    return vec_find(trials, x, x->run == run);
}

bool cost_trials_refute(const cost_trials *trials, uint32_t run)
{
    const struct cost_trial *trial = find_trial(trials, run);
    return trial && trial->is_refuted;
}

// A time that was taken from a running model is not that of a step alone.
static bool says_something(const struct step_cost *kept)
{
    return kept->seconds >= LEAST_TELLING_SECONDS && kept->spread <= MOST_TELLING_SPREAD && !kept->is_in_model;
}

bool cost_trials_ask_for(const cost_trials *trials, const char *text, const struct step_cost *kept)
{
    const struct cost_trial *trial = find_trial(trials, kept->run);
    bool is_first = !trial || trial->n_noted < FIRST_COSTS;
    return says_something(kept) && (is_first || hash_string(text) % SHARE_OF_OTHERS == 0);
}

bool cost_trials_agree(const struct step_cost *kept, const struct step_cost *now)
{
    double ratio = kept->seconds / now->seconds;
    return ratio <= MOST_WRONG && (ratio * MOST_WRONG >= 1 || now->is_doubtful);
}

static struct cost_trial *trial_of(cost_trials *trials, uint32_t run)
{
    if (!find_trial(trials, run))
        vec_push(trials, ((struct cost_trial){.run = run, .least = INFINITY, .factor = 1}));
    return (struct cost_trial *)(uintptr_t)find_trial(trials, run);
}

static bool had_another_speed(const struct cost_trial *trial)
{
    return !trial->is_doubtful && trial->most <= MOST_WRONG * trial->least;
}

const struct cost_trial *cost_trials_note(cost_trials *trials, const struct step_cost *kept,
                                          const struct step_cost *now)
{
    struct cost_trial *trial = trial_of(trials, kept->run);
    double ratio = kept->seconds / now->seconds;
    trial->n_noted++;
    trial->n_wrong += !cost_trials_agree(kept, now);
    trial->least = fmin(trial->least, ratio);
    trial->most = fmax(trial->most, ratio);
    trial->is_doubtful = trial->is_doubtful || now->is_doubtful;
    trial->is_refuted = trial->n_wrong >= LEAST_REFUTING && trial->n_wrong * SHARE_OF_REFUTING > trial->n_noted;
    if (trial->is_refuted && had_another_speed(trial)) {
        trial->factor = sqrt(trial->least * trial->most);
        trial->is_refuted = false;
    }
    return trial;
}

void cost_trials_forget(cost_trials *trials, uint32_t run)
{
    struct cost_trial last = vec_pop(trials);
    if (last.run != run)
        *trial_of(trials, run) = last;
}

static void print_time(struct text *out, uint32_t run)
{
    text_add(out, run ? "of " : "without a date");
    if (run)
        text_add_date(out, run);
}

void cost_trial_tell(const struct cost_trial *trial, size_t n_costs, const struct log *log)
{
    TEXT(when);
    print_time(&when, trial->run);
    log_warning(log, "costs %s are %.2g to %.2g times what steps take now: all %zu of them are %s", when.chars,
                trial->least, trial->most, n_costs, trial->is_refuted ? "measured again" : "divided by that");
}
