// Schedules of register tiles for a step, as choices of the way "tile" (ways.h).
#pragma once
#include "backends/cpu/cpu_internal.h"

void cpu_tile_list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list);
void cpu_tile_list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                          schedule_spaces *list);
