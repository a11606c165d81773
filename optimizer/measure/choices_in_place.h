// Choices of a tuned model's steps, judged where these stand (tuning/places.h).
#pragma once
#include "optimizer/job/optimization.h"
#include "tuning/former_choices.h"

// Rounds for the cheapest way to run the original or a finalist, for about so many seconds; `former` are the choices of
// before tuning.
void optimizing_choose_in_place(struct optimizing *o, const struct former_choices *former, double seconds);
