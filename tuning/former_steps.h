// Steps of models that were tuned before, of which the cost database has trials: their best serve other models' steps
// (ETO's database of tuned programs), and models of costs learn from them.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"
#include "tuning/reuse/reuse.h"

struct former_step {
    char family[16];
    struct reuse_loops loops;
    const char *key;   // of its trials
};
typedef VEC(struct former_step) former_step_list;

// The database knows the step's loops from now on.
void former_step_note(struct backend *b, const struct plan *plan, const struct step *step,
                      const struct schedule_space *space);
// All that the database knows, in the order of their texts.
void former_steps_list(const struct backend *b, struct arena *arena, former_step_list *list);
