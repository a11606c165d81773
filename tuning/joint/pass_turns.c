// Scores are compared only: their unit is the logarithm of a gain.
#include "tuning/joint/pass_turns.h"

#include "core/memory/vec.h"
#include "tuning/limits.def"

#include <math.h>

static size_t steps_of_round(const struct tuning_stage *s)
{
    return SUM_ALL(size_t, size_t, i, s->n_turns, s->turns[i].n_steps);
}

void pass_turns_begin(struct pass_turns *ret, const struct tuning_stage *stage, double seconds)
{
    *ret = (struct pass_turns){.stage = stage, .horizon = SHARE_OF_HORIZON * seconds};
}

// --- one after the other ---------------------------------------------------------------------------------------------

static size_t turn_at(const struct tuning_stage *s, size_t step)
{
    size_t i = 0;
    for (step %= steps_of_round(s); step >= s->turns[i].n_steps; i++)
        step -= s->turns[i].n_steps;
    return i;
}

static bool next_in_order(struct pass_turns *t)
{
    t->last = turn_at(t->stage, t->step++);
    return t->n_vain < steps_of_round(t->stage);
}

// --- by gain ---------------------------------------------------------------------------------------------------------

static double score(const struct pass_turns *t, size_t turn)
{
    double expected = EXPECTED_GAIN * (double)t->stage->turns[turn].n_steps;
    if (t->of[turn].spent < SHARE_OF_PROBE * t->horizon)
        return INFINITY;
    return t->of[turn].gained + expected / (1 + t->of[turn].spent / t->horizon);
}

static bool next_by_gain(struct pass_turns *t)
{
    size_t best = t->stage->n_turns;
    for (size_t i = 0; i < t->stage->n_turns; i++)
        if (!t->of[i].is_over && (best == t->stage->n_turns || score(t, i) > score(t, best)))
            best = i;
    t->last = best;
    return best < t->stage->n_turns;
}

// --- both ------------------------------------------------------------------------------------------------------------

bool pass_turns_next(struct pass_turns *t, size_t *ret_pass)
{
    bool is_any = t->stage->is_by_gain ? next_by_gain(t) : next_in_order(t);
    if (is_any)
        *ret_pass = t->stage->turns[t->last].pass;
    return is_any;
}

void pass_turns_note(struct pass_turns *t, bool is_any, double seconds, double gain)
{
    for (size_t i = 0; gain > 1 && i < t->stage->n_turns; i++)
        t->of[i].is_over = false;
    t->n_vain = is_any ? 0 : t->n_vain + 1;
    t->of[t->last].is_over = !is_any;
    t->of[t->last].spent += seconds;
    t->of[t->last].gained = t->of[t->last].gained * exp(-seconds / t->horizon) + log(gain);
}
