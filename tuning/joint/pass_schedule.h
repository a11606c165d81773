// Stages of a joint search, one after the other, each with a strategy, a share of the time, the passes that it is over,
// and what is expected of each of these beside the others: the next step is of the one that gains most in its time
// (pass_turns.h).
#pragma once
#include <stddef.h>

#define MOST_PASSES 6
#define MOST_STAGES 8

enum strategy_kind { TUNE_BY_EXHAUSTIVE, TUNE_BY_ANNEALING };   // strategies.h
struct pass_turn {
    size_t pass, expected;
};
struct tuning_stage {
    enum strategy_kind strategy;
    double share;   // of the whole time
    size_t n_turns;
    struct pass_turn turns[MOST_PASSES];
};
struct pass_schedule {
    size_t n_stages;
    struct tuning_stage stages[MOST_STAGES];
};
