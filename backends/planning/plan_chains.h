// Neighbouring steps as one: where a step alone reads what another makes, a device may have a kernel for both. Which of
// them are joined is decided by what they cost (costs/plan_choices.h), on a plan that is made and not yet laid out.
#pragma once
#include "backends/planning/plan.h"

#define CHAIN_MOST 5
struct plan_chain {
    int n;
    uint32_t steps[CHAIN_MOST];   // of the plan, in order
    struct step joined;           // its operands, results and loops are those of all, in order; parts are the steps
};
// The step that makes what step `reader` reads first, if nobody else reads it and the device may run both as one; else
// NO_STEP (UINT32_MAX).
uint32_t plan_find_before(const struct plan *plan, const struct plan_target *target, uint32_t reader);
// The step that alone reads what step `maker` makes, likewise.
uint32_t plan_find_behind(const struct plan *plan, const struct plan_target *target, uint32_t maker);
// Gives the steps as one; they are not joined yet. `parts` and all else is in the plan's arena.
void plan_chain_make(struct plan *plan, const struct plan_target *target, int n, const uint32_t *steps,
                     struct plan_chain *ret_chain);
// Puts the chain in the place of its last step. The numbers of steps behind change.
void plan_join_chain(struct plan *plan, const struct plan_chain *chain);
void plan_note_lives(struct plan *plan);   // first_step and last_step of all memories
