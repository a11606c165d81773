// Trials of runs by the ratios of what was kept to what it takes now.
#include "backends/costs/cost_trial.h"

#include "backends/limits.def"
#include "core/memory/hash.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include <math.h>
#include <string.h>

#define FIRST_COSTS 5       // of a run, all of which are measured again: it may be refuted by them,
#define ENOUGH_COSTS 8      // and its speed told by so many
#define MOST_COSTS 16       // that are measured of a run that stands
#define SHARE_OF_OTHERS 8   // one in so many

void cost_trials_free(cost_trials *trials)
{
    for (size_t i = 0; i < trials->count; i++)
        vec_free(&trials->items[i].ratios);
    vec_free(trials);
}

static const struct cost_trial *find_trial(const cost_trials *trials, uint32_t run)
{
    return vec_find(trials, x, x->run == run);
}

enum cost_verdict cost_trials_verdict(const cost_trials *trials, uint32_t run)
{
    const struct cost_trial *trial = find_trial(trials, run);
    return trial ? trial->verdict : COSTS_STAND;
}

double cost_trials_factor(const cost_trials *trials, uint32_t run)
{
    const struct cost_trial *trial = find_trial(trials, run);
    return trial && trial->verdict == COSTS_OF_ANOTHER_SPEED ? trial->summary.median : 1;
}

// A time that was taken from a running model is not that of a step alone.
static bool says_something(const struct step_cost *kept)
{
    return kept->seconds >= LEAST_TELLING_SECONDS && kept->spread <= MOST_TELLING_SPREAD && !kept->is_in_model;
}

static bool is_wrong(double ratio)
{
    return ratio > MOST_WRONG || ratio * MOST_WRONG < 1;
}

static bool are_mostly_wrong(const struct cost_trial *trial, size_t begin, size_t end)
{
    return 2 * COUNT(size_t, i, end - begin, is_wrong(trial->ratios.items[begin + i])) > end - begin;
}

bool cost_trials_ask_for(const cost_trials *trials, const char *text, const struct step_cost *kept)
{
    const struct cost_trial *trial = find_trial(trials, kept->run);
    size_t n = trial ? trial->ratios.count : 0, n_first = FIRST_COSTS;
    bool is_open = n < MOST_COSTS || trial->verdict != COSTS_STAND;
    if (trial && are_mostly_wrong(trial, 0, n))
        n_first = MOST_COSTS;
    return says_something(kept) && (n < n_first || (is_open && hash_string(text) % SHARE_OF_OTHERS == 0));
}

static double ratio_of(double kept, const struct step_cost *now)
{
    double ratio = kept / now->seconds;
    return now->is_doubtful ? fmax(1, ratio) : ratio;
}

bool cost_trials_agree(double kept, const struct step_cost *now)
{
    return !is_wrong(ratio_of(kept, now));
}

static struct cost_trial *trial_of(cost_trials *trials, uint32_t run)
{
    if (!find_trial(trials, run))
        vec_push(trials, ((struct cost_trial){.run = run}));
    return (struct cost_trial *)(uintptr_t)find_trial(trials, run);
}

static void judge(struct cost_trial *trial)
{
    size_t n = trial->ratios.count;
    LOCAL_ARRAY(double, sorted, n);
    memcpy(sorted, trial->ratios.items, n * sizeof *sorted);
    trial->summary = sample_summarize(sorted, n);
    bool is_one_speed =
        2 * trial->n_doubtful < n && trial->summary.quartile3 <= MOST_SPREAD_OF_SPEED * trial->summary.quartile1;
    bool is_false = n >= (is_one_speed ? ENOUGH_COSTS : FIRST_COSTS) && are_mostly_wrong(trial, 0, n / 2) &&
                    are_mostly_wrong(trial, n / 2, n);
    if (trial->verdict != COSTS_REFUTED)
        trial->verdict = !is_false ? COSTS_STAND : is_one_speed ? COSTS_OF_ANOTHER_SPEED : COSTS_REFUTED;
}

const struct cost_trial *cost_trials_note(cost_trials *trials, uint32_t run, double kept, const struct step_cost *now)
{
    struct cost_trial *trial = trial_of(trials, run);
    vec_push(&trial->ratios, ratio_of(kept, now));
    trial->n_doubtful += now->is_doubtful;
    judge(trial);
    return trial;
}

static void print_time(struct text *out, uint32_t run)
{
    text_add(out, run ? "of " : "without a date");
    if (run)
        text_add_date(out, run);
}

void cost_trial_tell(const struct cost_trial *trial, size_t n_costs, const struct log *log)
{
    static const char *const ends[] = {"believed after all", "measured again", "divided by that"};
    TEXT(when);
    print_time(&when, trial->run);
    log_warning(log, "costs %s are %.2g to %.2g times what steps take now: all %zu of them are %s", when.chars,
                trial->summary.minimum, trial->summary.maximum, n_costs, ends[trial->verdict]);
}
