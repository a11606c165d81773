// What a step costs on the device.
#pragma once
#include "backends/cuda/internal.h"

void cuda_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
bool cuda_measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                  double best, struct step_cost *ret_cost, struct error *error);
