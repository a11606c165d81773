// Whose turn it is of the passes of a stage (XTAT-M's SelectOpt): one after the other, for so many steps each, or the
// one that gains most in its time. By gain, each is tried briefly first, in the order of the stage; then the score of a
// pass is what it gained of late, older gains counting less, and what is expected of it, less the longer it was tried:
// so passes without gains share the time by what is expected of them, and one that gains goes on.
#pragma once
#include "tuning/joint/pass_schedule.h"

struct pass_turns {
    const struct tuning_stage *stage;
    double horizon;   // seconds after which gains count e times less
    size_t step, n_vain, last;
    struct {
        double gained, spent;
        bool is_over;   // nothing was there to do, and nothing gained since
    } of[MOST_PASSES];
};
void pass_turns_begin(struct pass_turns *ret, const struct tuning_stage *stage, double seconds);
bool pass_turns_next(struct pass_turns *t, size_t *ret_pass);   // false: nothing is left to do in any
// Notes of the step of the pass that was given last whether there was anything to do, what it took, and how many times
// as fast the best is since, at least 1.
void pass_turns_note(struct pass_turns *t, bool is_any, double seconds, double gain);
