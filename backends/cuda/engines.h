// Engines of a library for a step, in the order in which they are worth trying: first those that were the best for near
// shapes, then as the library ranks them, with the step's epilogue and without it by turns.
#pragma once
#include "backends/cuda/internal.h"

void cuda_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
// Keeps the engine that was found to be the best, for shapes that are near.
void engines_learn(struct backend *b, const struct plan *plan, const struct step *step, const struct step_cost *cost);
