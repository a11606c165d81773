// In which order passes are tuned, and by what: stages one after the other, each with a strategy, a share of the time,
// and the passes that take turns in it, for so many steps each. As text, for example
//     (annealing 0.4 (fusion 5) (layout 5)) (exhaustive 0.6 (schedules 1))
// Where a stage says by-gain, numbers are no steps, but what is expected of a pass beside the others: the next step is
// of the one that gains most in its time (pass_turns.h).
//     (exhaustive 1 by-gain (schedules 3) (fusion 2) (layout 1))
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

#define MOST_PASSES 6
#define MOST_STAGES 8

// strategies.h
enum strategy_kind { TUNE_BY_EXHAUSTIVE, TUNE_BY_ANNEALING, TUNE_BY_EVOLUTION, TUNE_BY_MODEL, N_TUNING_STRATEGIES };
struct pass_turn {
    size_t pass, n_steps;   // or what is expected of it
};
struct tuning_stage {
    enum strategy_kind strategy;
    double share;   // of the whole time
    bool is_by_gain;
    size_t n_turns;
    struct pass_turn turns[MOST_PASSES];
};
struct pass_schedule {
    size_t n_stages;
    struct tuning_stage stages[MOST_STAGES];
};
extern const char *const strategy_names[N_TUNING_STRATEGIES];
// `names` are those of the passes. False: it is no such text, and the error says where.
bool pass_schedule_parse(struct pass_schedule *ret, const char *text, const char *const *names, size_t n_names,
                         struct error *error);
