// Choices of steps, judged where the steps stand. A trial of a step alone finds in the caches what it read a moment
// ago; in the model other steps have run since. So choices that come near the best trial, and those from before tuning,
// run in place of each other in the whole model, one of each step at once, and each step keeps what takes the least
// there.
#pragma once
#include "tuning/former_choices.h"
#include "tuning/tune_graph.h"

struct places;
// The steps of a graph's plan by a policy that have several such choices; `former` may be NULL. NULL: none has.
struct places *places_new(struct backend *b, const struct graph *g, enum layout_policy policy,
                          const struct former_choices *former);
void places_free(struct places *p);
size_t places_count(const struct places *p);
// The choices of the plan as it is so far, and as the next round runs it: another choice of each step that has one
// left; in the last round the first one of each step that has another by now. Texts are in the arena. False: no step
// has.
bool places_list(struct places *p, bool is_last, struct arena *arena, step_choices *ret_now, step_choices *ret_next);
// The seconds of each step of such a plan in one run: by the choices so far, or by the next ones.
void places_tell(struct places *p, const struct plan *plan, bool is_next, const double *seconds);
// The round is over: each step goes on with the faster choice. The last one says what is adopted.
void places_judge(struct places *p);
struct places_outcome {
    size_t n_changed;     // steps, that take less by another choice than the one at first
    double before, now;   // seconds of a run of these, in the last round
};
// The cost database then has the choices, with what they take in the model.
struct places_outcome places_adopt(struct places *p);
