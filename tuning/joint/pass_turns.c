// Scores are compared only: their unit is the logarithm of a gain.
#include "tuning/joint/pass_turns.h"

#include "tuning/limits.def"

#include <math.h>

void pass_turns_begin(struct pass_turns *ret, const struct tuning_stage *stage, double seconds)
{
    *ret = (struct pass_turns){.stage = stage, .horizon = SHARE_OF_HORIZON * seconds};
}

static double score(const struct pass_turns *t, size_t turn)
{
    double expected = EXPECTED_GAIN * (double)t->stage->turns[turn].expected;
    if (t->of[turn].spent < SHARE_OF_PROBE * t->horizon)
        return INFINITY;
    return t->of[turn].gained + expected / (1 + t->of[turn].spent / t->horizon);
}

bool pass_turns_next(struct pass_turns *t, size_t *ret_pass)
{
    size_t best = t->stage->n_turns;
    for (size_t i = 0; i < t->stage->n_turns; i++)
        if (!t->of[i].is_over && (best == t->stage->n_turns || score(t, i) > score(t, best)))
            best = i;
    bool is_any = best < t->stage->n_turns;
    t->last = best;
    if (is_any)
        *ret_pass = t->stage->turns[best].pass;
    return is_any;
}

void pass_turns_note(struct pass_turns *t, bool is_any, double seconds, double gain)
{
    for (size_t i = 0; gain > 1 && i < t->stage->n_turns; i++)
        t->of[i].is_over = false;
    t->of[t->last].is_over = !is_any;
    t->of[t->last].spent += seconds;
    t->of[t->last].gained = t->of[t->last].gained * exp(-seconds / t->horizon) + log(gain);
}
